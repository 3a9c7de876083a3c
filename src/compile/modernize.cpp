#include "compile/modernize.h"

#include "ops/execute.h"
#include "ops/first_forms.h"
#include "ops/legacy_broadcast.h"

namespace headway {
namespace {

ValueId add_integers(Graph& graph, const std::string& name, const std::vector<int64_t>& values) {
    return graph.add_constant(name, Tensor::of<int64_t>(Shape{static_cast<int64_t>(values.size())}, values));
}

// `to` becomes `from` under another shape.
void add_reshape(Graph& graph, ValueId from, ValueId to, const Shape& shape, const std::vector<std::string>& origins) {
    graph.value(to).set_shape(shape);
    Node reshape;
    reshape.op = "Reshape";
    reshape.version = 13;
    reshape.origins = origins;
    reshape.inputs = {from, add_integers(graph, graph.value(from).name + "/shape", shape.dims())};
    reshape.outputs = {to};
    graph.add_node(std::move(reshape));
}

// The value under another shape.
ValueId reshaped_value(Graph& graph, ValueId id, const Shape& shape, const std::vector<std::string>& origins) {
    const std::string name = graph.value(id).name;
    if (const Tensor* constant = graph.constant(id)) return graph.add_constant(name, constant->reshaped(shape));
    const ValueId result = graph.add_fresh_value(name, graph.value(id).type);
    add_reshape(graph, id, result, shape, origins);
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

// Operands that the first version has as inputs of the data's type. What is not known stays: the shape rule refuses it.
void modernize_operands(Graph& graph, NodeId id) {
    const Node node = graph.node(id);
    const auto constant = [&](size_t i) { return i < node.inputs.size() ? graph.constant(node.inputs[i]) : nullptr; };
    if (node.op == "Split" && node.version < 2 && constant(1) != nullptr) {
        graph.node(id).attributes.set("split", naming(node, [&] { return whole_numbers(*constant(1), "split"); }));
        graph.node(id).inputs.resize(1);
        graph.node(id).version = 2;
    }
    if (node.op == "Tile" && node.version < 6 && node.inputs.size() == 3 && has_shape(graph, node.inputs[0]) &&
        constant(1) != nullptr && constant(2) != nullptr) {
        const size_t rank = graph.value(node.inputs[0]).shape().rank();
        const ValueId repeats =
            add_integers(graph, graph.value(node.inputs[1]).name,
                         naming(node, [&] { return first_tile_repeats(*constant(1), *constant(2), rank); }));
        graph.node(id).inputs = {node.inputs[0], repeats};
        graph.node(id).version = 6;
    }
}

// Statistics for each element of an image are those of the channels of a flat image.
void modernize_statistics(Graph& graph, NodeId id) {
    const Node node = graph.node(id);
    if (node.op != "BatchNormalization" || !has_statistics_per_element(node.attributes, node.version) ||
        node.inputs.size() != 5 || node.outputs.empty() || node.outputs[0] == no_value)
        return;
    for (const ValueId input : node.inputs)
        if (!has_shape(graph, input)) return;
    const Shape shape = graph.value(node.inputs[0]).shape();
    if (shape.rank() < 2 || shape.elements() == 0) return;
    const Shape statistics(std::vector<int64_t>(shape.begin() + 1, shape.end()));
    for (size_t i = 1; i < node.inputs.size(); ++i)
        if (graph.value(node.inputs[i]).shape() != statistics) return;
    graph.node(id).attributes.erase("spatial");
    if (shape.rank() == 2) return;
    const int64_t elements = statistics.elements();
    std::vector<ValueId> inputs{reshaped_value(graph, node.inputs[0], Shape{shape[0], elements}, node.origins)};
    for (size_t i = 1; i < node.inputs.size(); ++i)
        inputs.push_back(reshaped_value(graph, node.inputs[i], Shape{elements}, node.origins));
    const ElementType type = graph.value(node.inputs[0]).type;
    const ValueId flat = graph.add_fresh_value(graph.value(node.outputs[0]).name, type);
    graph.node(id).inputs = std::move(inputs);
    graph.node(id).outputs[0] = flat;
    graph.value(flat).producer = id;
    graph.value(node.outputs[0]).type = type;
    add_reshape(graph, flat, node.outputs[0], shape, node.origins);
}

void modernize_attributes(Node& node) {
    if (node.op == "Cast" && node.version < 6) {
        node.attributes.set("to", first_cast_target(node.attributes));
        node.version = 6;
    }
    if (node.op == "Selu" && node.version < 6) {
        node.attributes.set("alpha", node.attributes.real("alpha", first_selu_alpha));
        node.attributes.set("gamma", node.attributes.real("gamma", first_selu_gamma));
        node.version = 6;
    }
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

void modernize_upsample(Graph& graph, NodeId id) {
    Node& node = graph.node(id);
    if (node.op != "Upsample" || node.version >= 7 || node.inputs.empty() || !has_shape(graph, node.inputs[0])) return;
    node.attributes.set("scales", naming(node, [&] {
                            return first_upsample_scales(node.attributes, graph.value(node.inputs[0]).shape().rank());
                        }));
    if (is_bilinear(node.attributes)) node.attributes.set("mode", std::string("linear"));
    node.attributes.erase("height_scale");
    node.attributes.erase("width_scale");
    node.version = 7;
}

}  // namespace

void modernize_node(Graph& graph, NodeId id) {
    if (!graph.node(id).domain.empty()) return;
    naming(graph.node(id), [&] { modernize_attributes(graph.node(id)); });
    modernize_upsample(graph, id);
    modernize_operands(graph, id);
    modernize_statistics(graph, id);
    modernize_broadcast(graph, id);
}

}  // namespace headway
