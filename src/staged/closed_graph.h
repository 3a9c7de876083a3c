// Sub-graphs read values of the graphs around them by name. A closed graph does not: it runs alone.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "graph/graph.h"

namespace headway {

// Names of the values that the node's sub-graphs, at any depth, read from outside the node. Sorted.
std::vector<std::string> captured_names(const Node& node);

struct ClosedGraph {
    Graph graph;
    std::vector<ValueId> captured;  // values of the outer graph that are its last inputs, in order
};

// `body` with what it captures from `outer`: constants as constants, all else as further inputs. `outer_values` finds
// the outer graph's values by name. UserError when it reads a name that the outer graph does not have.
ClosedGraph closed(const Graph& body, const Graph& outer, const std::unordered_map<std::string, ValueId>& outer_values);

}  // namespace headway
