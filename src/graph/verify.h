// What must hold of a graph between passes. Run after every pass in debug builds and after import always.
#pragma once

#include "graph/graph.h"

namespace headway {

enum class Stage {
    imported,  // may hold symbols, sub-graphs, unknown shapes
    bound,     // every value has a type and a static shape, no sub-graphs, no symbols
    grouped,   // as bound; Groups may stand
};

// InternalError naming the node or value that breaks a rule: unique value names, one producer each, no cycle, inputs in
// range, every output produced, constants with matching type and shape, origins present, stage rules as above.
void verify_graph(const Graph& graph, Stage stage);

}  // namespace headway
