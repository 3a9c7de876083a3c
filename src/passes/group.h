// Making Groups.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"

namespace headway {

// Replaces the nodes (in topological order) by one Group whose outputs are `results`; all that else reads their values
// must be among those. Origins: `first`'s, then the others'.
NodeId make_group(Graph& graph, const std::vector<NodeId>& nodes, const std::vector<ValueId>& results, NodeId first);

// Position of each node in topological order, by id.
std::vector<int> positions(const Graph& graph);

}  // namespace headway
