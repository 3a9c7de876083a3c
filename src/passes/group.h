// Making Groups.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"
#include "passes/match.h"

namespace headway {

// Replaces the nodes (in topological order) by one Group whose outputs are `results`; all that else reads their values
// must be among those. Origins: `first`'s, then the others'.
NodeId make_group(Graph& graph, const std::vector<NodeId>& nodes, const std::vector<ValueId>& results, NodeId first);

// What growing a Group asks of the graph around it, at the time of construction; make new ones after a change.
struct Surroundings {
    explicit Surroundings(const Graph& graph);

    Uses uses;
    std::vector<int> positions;  // of each node in topological order, by id
};

}  // namespace headway
