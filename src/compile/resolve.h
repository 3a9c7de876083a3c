// What can be known of a graph before it runs: types, shapes, and the values on which shapes depend.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"
#include "ops/op.h"

namespace headway {

// A tensor whose type and shape are known. Strings are none: nothing on them is compiled.
bool is_known(const Value& value);

// A node of whose outputs type or shape depend on more than is known.
struct Unresolved {
    NodeId node;
    std::string why;  // one line that names the node
};

// Infers types and shapes in order, computes small results of known values, and replaces an If whose condition is known
// by the branch it takes. Inputs without a known shape are legal. Returns the nodes for which this fails although types
// and shapes of their inputs are known; nodes behind them are left as they are. UserError when the graph is wrong.
std::vector<Unresolved> resolve(Graph& graph, const Registry<Op>& ops);

}  // namespace headway
