#include "compile/modernize.h"

#include "ops/execute.h"
#include "ops/legacy_broadcast.h"

namespace headway {
namespace {

// The value under another shape.
ValueId reshaped_value(Graph& graph, ValueId id, const Shape& shape, const std::vector<std::string>& origins) {
    const std::string name = graph.value(id).name;
    if (const Tensor* constant = graph.constant(id)) return graph.add_constant(name, constant->reshaped(shape));
    const ValueId result = graph.add_fresh_value(name, graph.value(id).type);
    graph.value(result).set_shape(shape);
    Node reshape;
    reshape.op = "Reshape";
    reshape.version = 13;
    reshape.origins = origins;
    reshape.inputs = {id,
                      graph.add_constant(name + "/shape",
                                         Tensor::of<int64_t>(Shape{static_cast<int64_t>(shape.rank())}, shape.dims()))};
    reshape.outputs = {result};
    graph.add_node(std::move(reshape));
    return result;
}

bool has_shape(const Graph& graph, ValueId id) { return id != no_value && graph.value(id).has_static_shape(); }

void modernize_broadcast(Graph& graph, NodeId id) {
    const Node node = graph.node(id);
    const std::optional<LegacyBroadcast> rule = legacy_broadcast(node);
    // What is missing is reported by the shape rule.
    if (!rule || node.inputs.size() != 2 || !has_shape(graph, node.inputs[0]) || !has_shape(graph, node.inputs[1]))
        return;
    const Shape second = graph.value(node.inputs[1]).shape();
    const Shape wanted = naming(node, [&] {
        return legacy_operand_shape(*rule, node.attributes, graph.value(node.inputs[0]).shape(), second);
    });
    const ValueId operand =
        wanted == second ? node.inputs[1] : reshaped_value(graph, node.inputs[1], wanted, node.origins);
    Node& modern = graph.node(id);
    modern.inputs[1] = operand;
    modern.version = 7;
    modern.attributes.erase("axis");
    modern.attributes.erase("broadcast");
}

void modernize_attributes(Node& node) {
    if (node.op == "Concat" && node.version < 4) {
        node.attributes.set("axis", node.attributes.integer("axis", 1));
        node.version = 4;
    }
    if (node.op == "Pad" && node.version < 2) {
        if (node.attributes.has("paddings")) node.attributes.set("pads", node.attributes.integers("paddings"));
        node.attributes.erase("paddings");
        node.version = 2;
    }
}

}  // namespace

void modernize_node(Graph& graph, NodeId id) {
    if (!graph.node(id).domain.empty()) return;
    modernize_attributes(graph.node(id));
    modernize_broadcast(graph, id);
}

}  // namespace headway
