// (x - mean) / sqrt(variance + epsilon), with scale and bias when they fit, becomes LayerNormalization. Operands are
// told apart by what they are connected to, never by rank or position.
#include <algorithm>

#include "passes/match.h"
#include "passes/pass.h"
#include "passes/rewrite.h"

namespace headway {
namespace {

const Knob<std::string_view> enabled{{
    .name = "rewrite_layer_norm",
    .help = "Turns the spelled-out forms of LayerNormalization into the operator.",
    .family = "rewrite",
    .values = {"on", "off"},
    .numerics = Numerics::reorders,
    .witness = "layer_norm_spelled",
}};

struct Norm {
    ValueId x = no_value, result = no_value;
    size_t axis = 0;
    float epsilon = 0;
    std::vector<NodeId> nodes;  // the root first
};

// The input of a ReduceMean over the last axes that keeps them; `axis` is the first of these.
NodeId mean_over_last(const Graph& graph, ValueId value, size_t& axis) {
    const NodeId id = made_by(graph, value, "ReduceMean");
    if (id == no_node || graph.node(id).attributes.integer("keepdims", 1) == 0) return no_node;
    std::optional<std::vector<int64_t>> axes = axes_of(graph, graph.node(id));
    if (!axes || axes->empty()) return no_node;
    const size_t rank = graph.value(graph.node(id).inputs[0]).shape().rank();
    for (int64_t& a : *axes) a = normalized_axis(a, rank);
    std::ranges::sort(*axes);
    axis = rank - axes->size();
    for (size_t i = 0; i < axes->size(); ++i)
        if ((*axes)[i] != static_cast<int64_t>(axis + i)) return no_node;
    return id;
}

// The square root below 1/y or y = sqrt(v): the value v, with the nodes on the way. `inverse`: value is 1/sqrt(v).
ValueId under_root(const Graph& graph, ValueId value, bool inverse, std::vector<NodeId>& nodes) {
    if (!inverse) {
        const NodeId root = made_by(graph, value, "Sqrt");
        if (root == no_node) return no_value;
        nodes.push_back(root);
        return graph.node(root).inputs[0];
    }
    if (const NodeId id = made_by(graph, value, "Reciprocal"); id != no_node) {
        nodes.push_back(id);
        return under_root(graph, graph.node(id).inputs[0], false, nodes);
    }
    if (const NodeId id = made_by(graph, value, "Div");
        id != no_node && uniform_constant(graph, graph.node(id).inputs[0]) == 1.0F) {
        nodes.push_back(id);
        return under_root(graph, graph.node(id).inputs[1], false, nodes);
    }
    if (const NodeId id = made_by(graph, value, "Pow");
        id != no_node && uniform_constant(graph, graph.node(id).inputs[1]) == -0.5F) {
        nodes.push_back(id);
        return graph.node(id).inputs[0];
    }
    return no_value;
}

// The value whose square this is.
ValueId squared(const Graph& graph, ValueId value, std::vector<NodeId>& nodes) {
    for (const char* op : {"Pow", "Mul"}) {
        const NodeId id = made_by(graph, value, op);
        if (id == no_node) continue;
        const Node& node = graph.node(id);
        const bool square =
            op[0] == 'P' ? uniform_constant(graph, node.inputs[1]) == 2.0F : node.inputs[0] == node.inputs[1];
        if (!square) return no_value;
        nodes.push_back(id);
        return node.inputs[0];
    }
    return no_value;
}

// Whether `value` is x minus its mean over the last axes from `norm.axis`.
bool is_deviation(const Graph& graph, ValueId value, Norm& norm) {
    const NodeId sub = made_by(graph, value, "Sub");
    if (sub == no_node) return false;
    size_t axis = 0;
    const NodeId mean = mean_over_last(graph, graph.node(sub).inputs[1], axis);
    const ValueId x = graph.node(sub).inputs[0];
    if (mean == no_node || graph.node(mean).inputs[0] != x) return false;
    if (norm.x == no_value) {
        norm.x = x;
        norm.axis = axis;
    }
    for (NodeId id : {sub, mean})
        if (std::ranges::find(norm.nodes, id) == norm.nodes.end()) norm.nodes.push_back(id);
    return norm.x == x && norm.axis == axis;
}

// The norm whose division (or multiplication by the inverse) is `root`.
std::optional<Norm> norm_at(const Graph& graph, NodeId root) {
    const Node& node = graph.node(root);
    for (size_t i = 0; i < (node.op == "Mul" ? 2U : 1U); ++i) {
        Norm norm{.result = node.outputs[0], .nodes = {root}};
        if (!is_deviation(graph, node.inputs[i], norm)) continue;
        const ValueId sum = under_root(graph, node.inputs[1 - i], node.op == "Mul", norm.nodes);
        const NodeId add = sum == no_value ? no_node : made_by(graph, sum, "Add");
        const auto operand = add == no_node ? std::nullopt : constant_operand(graph, graph.node(add));
        const auto epsilon = operand ? uniform_constant(graph, operand->constant) : std::nullopt;
        if (!epsilon) continue;
        norm.nodes.push_back(add);
        norm.epsilon = *epsilon;
        size_t axis = 0;
        const NodeId variance = mean_over_last(graph, operand->variable, axis);
        if (variance == no_node || axis != norm.axis) continue;
        norm.nodes.push_back(variance);
        const ValueId deviation = squared(graph, graph.node(variance).inputs[0], norm.nodes);
        if (deviation == no_value || !is_deviation(graph, deviation, norm)) continue;
        return norm;
    }
    return std::nullopt;
}

// Whether everything but the result is read inside the pattern only.
bool is_closed(const Graph& graph, const Uses& uses, const Norm& norm) {
    return std::all_of(norm.nodes.begin() + 1, norm.nodes.end(), [&](NodeId id) {
        const ValueId value = graph.node(id).outputs[0];
        return !graph.is_output(value) && std::ranges::all_of(uses.readers(value), [&](NodeId reader) {
            return std::ranges::find(norm.nodes, reader) != norm.nodes.end();
        });
    });
}

// The constant of the sole reader `op` of the result when it has exactly the normalised shape (leading ones aside).
ValueId parameter(Graph& graph, const Uses& uses, Norm& norm, const char* op, const Shape& normalized) {
    const NodeId reader = uses.sole_reader(norm.result);
    if (reader == no_node || !is_op(graph.node(reader), op)) return no_value;
    const auto operand = constant_operand(graph, graph.node(reader));
    if (!operand || operand->variable != norm.result) return no_value;
    const Tensor& tensor = *known(graph, operand->constant);
    const auto stripped = [](const Shape& shape) {
        const auto first = std::ranges::find_if(shape, [](int64_t extent) { return extent != 1; });
        return std::vector<int64_t>(first, shape.end());
    };
    if (stripped(tensor.shape()) != stripped(normalized)) return no_value;
    norm.nodes.push_back(reader);
    norm.result = graph.node(reader).outputs[0];
    if (tensor.shape() == normalized) return operand->constant;
    return graph.add_constant(graph.value(operand->constant).name, tensor.reshaped(normalized));
}

bool rewrite(PassContext& context, NodeId root) {
    Graph& graph = context.graph;
    if (graph.value(graph.node(root).outputs[0]).type != ElementType::f32) return false;
    const Uses uses(graph);
    std::optional<Norm> norm = norm_at(graph, root);
    if (!norm) return false;
    const std::string site = site_of(graph, root);
    if (!is_closed(graph, uses, *norm)) {
        context.refused(site, "LayerNormalization",
                        Verdict::no(Reason::consumers, "an intermediate value is read elsewhere"));
        return false;
    }
    const Shape shape = graph.value(norm->x).shape();
    const Shape normalized(std::vector<int64_t>(shape.begin() + static_cast<int64_t>(norm->axis), shape.end()));
    ValueId scale = parameter(graph, uses, *norm, "Mul", normalized);
    const bool scaled = scale != no_value;
    if (!scaled)
        scale = add_floats(graph, site + ".scale", normalized,
                           std::vector<double>(static_cast<size_t>(normalized.elements()), 1.0));
    std::vector<ValueId> inputs{norm->x, scale};
    // Without a scale that fits, an addition comes before whatever multiplication there is.
    if (const ValueId bias = parameter(graph, uses, *norm, "Add", normalized); bias != no_value) inputs.push_back(bias);
    Attributes attributes;
    attributes.set("axis", static_cast<int64_t>(norm->axis));
    attributes.set("epsilon", norm->epsilon);
    append_as(context, norm->result, "LayerNormalization", std::move(inputs), std::move(attributes),
              merged_origins(graph, norm->nodes));
    context.taken(site, "LayerNormalization");
    return true;
}

bool run(PassContext& context) {
    return rewrite_each(context.graph, [&](NodeId id) {
        const Node& node = context.graph.node(id);
        return (is_op(node, "Mul") || is_op(node, "Div")) && rewrite(context, id);
    });
}

const Pass rewrite_layer_norm{{
    .name = "rewrite_layer_norm",
    .help = "Recognises LayerNormalization.",
    .enabled = &enabled,
    .run = run,
}};

}  // namespace
}  // namespace headway
