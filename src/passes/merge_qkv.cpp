// Matrix products of the same input with constant matrices (query, key and value) become one, and a Split.
#include <map>

#include "passes/match.h"
#include "passes/merge_parallel.h"
#include "passes/rewrite.h"

namespace headway {
namespace {

const Knob<std::string_view> enabled{{
    .name = "merge_qkv",
    .help = "Computes products of the same input with several constant matrices as one.",
    .family = "rewrite",
    .values = {"off", "on"},
    .numerics = Numerics::reorders,
    .witness = "qkv",
}};

const Tensor* matrix_of(const Graph& graph, const Node& node) {
    const Tensor* weights = is_op(node, "MatMul") ? known(graph, node.inputs[1]) : nullptr;
    const bool fits = weights && weights->type() == ElementType::f32 && weights->shape().rank() == 2 &&
                      !known(graph, node.inputs[0]) && graph.value(node.inputs[0]).shape().rank() >= 2;
    return fits ? weights : nullptr;
}

bool run(PassContext& context) {
    Graph& graph = context.graph;
    std::map<ValueId, std::vector<NodeId>> groups;
    for (NodeId id : graph.topological_order())
        if (matrix_of(graph, graph.node(id))) groups[graph.node(id).inputs[0]].push_back(id);
    bool changed = false;
    for (const auto& [input, nodes] : groups) {
        if (nodes.size() < 2) continue;
        std::vector<Tensor> weights;
        for (NodeId id : nodes) weights.push_back(*matrix_of(graph, graph.node(id)));
        const std::string site = site_of(graph, nodes.front());
        const ValueId joint = graph.add_constant(site + ".weights", joined(weights, 1));
        const ValueId whole = append(context, "MatMul", {input, joint}, {}, merged_origins(graph, nodes));
        split_as(context, whole, nodes, graph.value(whole).shape().rank() - 1);
        context.taken(site, "merge " + std::to_string(nodes.size()));
        changed = true;
    }
    return changed;
}

const Pass merge_qkv{{
    .name = "merge_qkv",
    .help = "Merges matrix products of the same input.",
    .enabled = &enabled,
    .run = run,
}};

}  // namespace
}  // namespace headway
