#include "passes/group.h"

#include <algorithm>

#include "passes/pointwise_body.h"
#include "passes/rewrite.h"

namespace headway {

namespace {

std::vector<int> positions_in(const Graph& graph) {
    std::vector<int> result(static_cast<size_t>(graph.node_count()), -1);
    int next = 0;
    for (NodeId id : graph.topological_order()) result[static_cast<size_t>(id)] = next++;
    return result;
}

}  // namespace

NodeId make_group(Graph& graph, const std::vector<NodeId>& nodes, const std::vector<ValueId>& results, NodeId first) {
    Node group;
    group.op = "Group";
    std::vector<NodeId> by_rank{first};
    std::ranges::copy_if(nodes, std::back_inserter(by_rank), [&](NodeId id) { return id != first; });
    group.origins = merged_origins(graph, by_rank);
    group.body = std::make_shared<const Graph>(body_of(graph, nodes, results, group.inputs));
    group.outputs = results;
    for (NodeId id : nodes) graph.erase_node(id);
    return graph.add_node(std::move(group));
}

Surroundings::Surroundings(const Graph& graph) : uses(graph), positions(positions_in(graph)) {}

}  // namespace headway
