// Replaces an `If` whose condition is known at build time by the nodes of the branch it takes.
#pragma once

#include "graph/graph.h"

namespace headway {

// Unsupported, naming the node, when the condition is not a constant. Captured values are found by name in the graph;
// branch values get fresh names.
void inline_taken_branch(Graph& graph, NodeId if_node);

}  // namespace headway
