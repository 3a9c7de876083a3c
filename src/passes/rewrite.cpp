#include "passes/rewrite.h"

#include <algorithm>
#include <unordered_set>

#include "base/error.h"
#include "passes/match.h"

namespace headway {

int rewrite_version(std::string_view op) {
    constexpr int common_version = 17;  // LayerNormalization's first
    constexpr int gelu_version = 20;
    return op == "Gelu" ? gelu_version : common_version;
}

std::vector<std::string> merged_origins(const Graph& graph, const std::vector<NodeId>& nodes) {
    std::vector<std::string> origins;
    std::unordered_set<std::string_view> seen;  // of names in the graph, which stays as it is
    for (NodeId id : nodes)
        for (const std::string& origin : graph.node(id).origins)
            if (seen.insert(origin).second) origins.push_back(origin);
    return origins;
}

std::vector<std::string> merged_origins(const Graph& graph, std::initializer_list<NodeId> nodes) {
    return merged_origins(graph, std::vector<NodeId>(nodes));
}

const std::string& site_of(const Graph& graph, NodeId node) {
    HEADWAY_CHECK(!graph.node(node).origins.empty());
    return graph.node(node).origins.front();
}

namespace {

Node new_node(std::string_view op, std::vector<ValueId> inputs, Attributes attributes,
              std::vector<std::string> origins) {
    Node node;
    const size_t slash = op.find('/');
    const bool is_foreign = slash != std::string_view::npos;
    node.op = is_foreign ? op.substr(slash + 1) : op;
    if (is_foreign) node.domain = op.substr(0, slash);
    node.version = is_foreign ? 1 : rewrite_version(op);
    node.inputs = std::move(inputs);
    node.attributes = std::move(attributes);
    node.origins = std::move(origins);
    return node;
}

}  // namespace

ValueId append(PassContext& context, std::string_view op, std::vector<ValueId> inputs, Attributes attributes,
               std::vector<std::string> origins) {
    Node node = new_node(op, std::move(inputs), std::move(attributes), std::move(origins));
    const ValueId output = context.graph.add_fresh_value(node.origins.front());
    node.outputs = {output};
    infer_node(context.graph, context.graph.add_node(std::move(node)), context.ops);
    return output;
}

NodeId append_as(PassContext& context, ValueId output, Node node) {
    Graph& graph = context.graph;
    const NodeId old = graph.value(output).producer;
    if (old != no_node) {
        std::ranges::replace(graph.node(old).outputs, output, no_value);
        if (std::ranges::all_of(graph.node(old).outputs, [](ValueId id) { return id == no_value; }))
            graph.erase_node(old);
    }
    node.outputs = {output};
    const NodeId id = graph.add_node(std::move(node));
    infer_node(graph, id, context.ops);
    return id;
}

NodeId append_as(PassContext& context, ValueId output, std::string_view op, std::vector<ValueId> inputs,
                 Attributes attributes, std::vector<std::string> origins) {
    return append_as(context, output, new_node(op, std::move(inputs), std::move(attributes), std::move(origins)));
}

bool replace_value(PassContext& context, ValueId from, ValueId to) {
    Graph& graph = context.graph;
    const NodeId producer = graph.value(from).producer;
    HEADWAY_CHECK(producer != no_node);
    if (graph.is_output(from)) {
        const bool can_rename = graph.value(to).producer != no_node && !graph.is_output(to);
        if (!can_rename) {
            const Node& node = graph.node(producer);
            if (is_op(node, "Identity") && node.inputs[0] == to) return false;
            const std::vector<NodeId> readers = graph.consumers()[static_cast<size_t>(from)];
            for (NodeId id : readers) std::ranges::replace(graph.node(id).inputs, from, to);
            append_as(context, from, "Identity", {to}, {}, merged_origins(graph, {producer}));
            return true;
        }
        std::swap(graph.value(from).name, graph.value(to).name);
    }
    graph.replace_uses(from, to);
    Node& node = graph.node(producer);
    std::ranges::replace(node.outputs, from, no_value);
    if (std::ranges::all_of(node.outputs, [](ValueId id) { return id == no_value; })) graph.erase_node(producer);
    return true;
}

int erase_dead_nodes(Graph& graph) {
    const std::vector<NodeId> order = graph.topological_order();
    int erased = 0;
    std::vector<int> reads(static_cast<size_t>(graph.value_count()), 0);
    for (ValueId output : graph.outputs) ++reads[static_cast<size_t>(output)];
    for (auto id = order.rbegin(); id != order.rend(); ++id) {
        const Node& node = graph.node(*id);
        const bool read = std::ranges::any_of(
            node.outputs, [&](ValueId output) { return output != no_value && reads[static_cast<size_t>(output)] > 0; });
        if (!read) {
            graph.erase_node(*id);
            ++erased;
            continue;
        }
        for (ValueId input : node.inputs)
            if (input != no_value) ++reads[static_cast<size_t>(input)];
    }
    return erased;
}

ValueId add_floats(Graph& graph, std::string_view hint, Shape shape, const std::vector<double>& values) {
    const std::vector<float> narrow(values.begin(), values.end());
    return graph.add_constant(hint, Tensor::of<float>(std::move(shape), narrow));
}

ValueId add_integers(Graph& graph, std::string_view hint, const std::vector<int64_t>& values) {
    return graph.add_constant(hint, Tensor::of<int64_t>({static_cast<int64_t>(values.size())}, values));
}

Attributes attributes_with(Attributes attributes, std::string name, AttributeValue value) {
    attributes.set(std::move(name), std::move(value));
    return attributes;
}

}  // namespace headway
