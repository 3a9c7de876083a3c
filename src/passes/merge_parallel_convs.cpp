// Convolutions of the same input with the same geometry become one with the channels of all, and a Split.
#include <map>

#include "passes/match.h"
#include "passes/merge_parallel.h"
#include "passes/rewrite.h"

namespace headway {
namespace {

const Knob<std::string_view> enabled{{
    .name = "merge_parallel_convs",
    .help = "Computes convolutions of the same input and geometry as one.",
    .family = "rewrite",
    .values = {"off", "on"},
    .numerics = Numerics::reorders,
    .witness = "parallel_convs",
}};

// Convolutions with equal keys can be merged; empty for nodes that cannot.
std::string key_of(const Graph& graph, const Node& node) {
    const Tensor* weights = is_op(node, "Conv") ? known(graph, input_of(node, 1)) : nullptr;
    const bool has_bias = input_of(node, 2) != no_value;
    if (!weights || weights->type() != ElementType::f32 || (has_bias && !known(graph, node.inputs[2]))) return "";
    if (node.attributes.integer("group", 1) != 1) return "";
    std::string key = std::to_string(node.inputs[0]) + " " + node.attributes.text("auto_pad", "NOTSET");
    for (const char* name : {"strides", "pads", "dilations"}) {
        key += std::string(" ") + name;
        for (int64_t value : node.attributes.integers(name)) key += " " + std::to_string(value);
    }
    for (size_t i = 1; i < weights->shape().rank(); ++i) key += " " + std::to_string(weights->shape()[i]);
    return key;
}

void merge(PassContext& context, const std::vector<NodeId>& nodes) {
    Graph& graph = context.graph;
    std::vector<Tensor> weights, biases;
    for (NodeId id : nodes) {
        const Node& node = graph.node(id);
        weights.push_back(*known(graph, node.inputs[1]));
        const Tensor* bias = known(graph, input_of(node, 2));
        biases.push_back(bias ? *bias : Tensor(ElementType::f32, {weights.back().shape()[0]}));
    }
    const Node first = graph.node(nodes.front());
    const std::vector<std::string> origins = merged_origins(graph, nodes);
    const ValueId w = graph.add_constant(graph.value(first.inputs[1]).name, joined(weights, 0));
    const ValueId b = graph.add_constant(origins.front() + ".bias", joined(biases, 0));
    split_as(context, append(context, "Conv", {first.inputs[0], w, b}, first.attributes, origins), nodes, 1);
}

bool run(PassContext& context) {
    Graph& graph = context.graph;
    std::map<std::string, std::vector<NodeId>> groups;
    for (NodeId id : graph.topological_order())
        if (const std::string key = key_of(graph, graph.node(id)); !key.empty()) groups[key].push_back(id);
    bool changed = false;
    for (const auto& [key, nodes] : groups) {
        if (nodes.size() < 2) continue;
        const std::string site = site_of(graph, nodes.front());
        merge(context, nodes);
        context.taken(site, "merge " + std::to_string(nodes.size()));
        changed = true;
    }
    return changed;
}

const Pass merge_parallel_convs{{
    .name = "merge_parallel_convs",
    .help = "Merges convolutions of the same input.",
    .enabled = &enabled,
    .run = run,
}};

}  // namespace
}  // namespace headway
