#include "passes/linear.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "passes/match.h"
#include "passes/rewrite.h"

namespace headway {
namespace {

// The channel of the result and of the input that an element of the weights belongs to.
struct Channels {
    int64_t out, in;
};

// Position of a weight as (first, second, rest) with the extents of the first two axes.
struct WeightMap {
    const Node& node;
    Shape shape;
    int64_t groups;

    explicit WeightMap(const Node& of, const Shape& weights)
        : node(of), shape(weights), groups(of.attributes.integer("group", 1)) {}

    Channels at(int64_t index) const {
        const size_t rank = shape.rank();
        if (node.op == "Conv") {
            const int64_t rest = shape.elements(2, rank), out = index / (shape[1] * rest);
            const int64_t in = index / rest % shape[1];
            return {out, out / (shape[0] / groups) * shape[1] + in};
        }
        if (node.op == "ConvTranspose") {
            const int64_t rest = shape.elements(2, rank), in = index / (shape[1] * rest);
            const int64_t out = index / rest % shape[1];
            return {in / (shape[0] / groups) * shape[1] + out, in};
        }
        const int64_t columns = shape.back(), row = index / columns % shape[rank - 2], column = index % columns;
        const bool transposed = node.op == "Gemm" && node.attributes.integer("transB", 0) != 0;
        return transposed ? Channels{row, column} : Channels{column, row};
    }
};

bool pads_input(const Node& node) {
    const std::string auto_pad = node.attributes.text("auto_pad", "NOTSET");
    if (auto_pad != "NOTSET") return auto_pad != "VALID";
    return std::ranges::any_of(node.attributes.integers("pads"), [](int64_t pad) { return pad != 0; });
}

// The bias per channel of the result; zeros when absent, nothing when it is not of that form.
std::optional<std::vector<double>> bias_of(const Graph& graph, const Linear& linear) {
    const Node& node = graph.node(linear.node);
    const ValueId bias = linear.has_bias_input ? input_of(node, 2) : no_value;
    if (bias == no_value) return std::vector<double>(static_cast<size_t>(linear.out_channels), 0.0);
    const Tensor* tensor = known(graph, bias);
    if (!tensor || tensor->type() != ElementType::f32) return std::nullopt;
    return along_axis(*tensor, node.op == "Gemm" ? graph.value(node.outputs[0]).shape() : Shape{linear.out_channels},
                      node.op == "Gemm" ? 1 : 0);
}

bool all_finite(const std::vector<double>& values) {
    return std::ranges::all_of(values, [](double value) { return std::isfinite(static_cast<float>(value)); });
}

Verdict not_finite() { return Verdict::no(Reason::accuracy, "a folded weight would not be finite"); }

// The inputs of the node with other weights and bias.
std::vector<ValueId> with_weights(Graph& graph, const Linear& linear, const std::vector<double>& weights,
                                  const std::vector<double>& bias) {
    const Node node = graph.node(linear.node);
    std::vector<ValueId> inputs = node.inputs;
    const Value& old = graph.value(inputs[1]);
    inputs[1] = add_floats(graph, old.name, Shape(old.shape()), weights);
    const bool zero = std::ranges::all_of(bias, [](double x) { return x == 0; });
    if (!linear.has_bias_input || (zero && input_of(node, 2) == no_value)) return inputs;
    inputs.resize(3, no_value);
    inputs[2] = add_floats(graph, site_of(graph, linear.node) + ".bias", {linear.out_channels}, bias);
    return inputs;
}

// Conv and Gemm apply alpha and beta; scaling the result scales both terms, so only the bias needs care.
double beta_of(const Node& node) { return node.op == "Gemm" ? node.attributes.real("beta", 1) : 1.0; }
double alpha_of(const Node& node) { return node.op == "Gemm" ? node.attributes.real("alpha", 1) : 1.0; }

}  // namespace

std::optional<Linear> linear_at(const Graph& graph, NodeId id, Verdict& why) {
    const auto refuse = [&](Reason reason, const char* detail) {
        why = Verdict::no(reason, detail);
        return std::nullopt;
    };
    if (id == no_node) return refuse(Reason::pattern, "not next to a linear operator");
    const Node& node = graph.node(id);
    Linear linear{.node = id};
    const bool conv = is_op(node, "Conv") || is_op(node, "ConvTranspose");
    if (!conv && !is_op(node, "Gemm") && !is_op(node, "MatMul"))
        return refuse(Reason::pattern, "not next to a linear operator");
    const Tensor* weights = known(graph, input_of(node, 1));
    if (!weights) return refuse(Reason::needs_constant, "weights");
    if (weights->type() != ElementType::f32) return refuse(Reason::element_type, "weights are not f32");
    const Shape in = graph.value(node.inputs[0]).shape(), out = graph.value(node.outputs[0]).shape();
    if (conv) {
        linear.out_axis = linear.in_axis = 1;
        linear.has_bias_input = true;
        linear.pads = node.op == "ConvTranspose" || pads_input(node);
    } else if (node.op == "Gemm") {
        linear.out_axis = 1;
        linear.in_axis = node.attributes.integer("transA", 0) != 0 ? 0 : 1;
        linear.has_bias_input = true;
        if (beta_of(node) == 0) return refuse(Reason::attribute, "beta is zero");
    } else {
        // Weights with batch axes of their own differ along more than the channels; a vector has no channel axis.
        if (weights->shape().rank() != 2 || in.rank() < 2) return refuse(Reason::shape, "weights are not a matrix");
        linear.out_axis = out.rank() - 1;
        linear.in_axis = in.rank() - 1;
    }
    linear.out_channels = out[linear.out_axis];
    linear.in_channels = in[linear.in_axis];
    if (!bias_of(graph, linear)) return refuse(Reason::needs_constant, "bias per channel");
    return linear;
}

Verdict scale_result(PassContext& context, const Linear& linear, const std::vector<double>& scale,
                     const std::vector<double>& shift, ValueId result, std::vector<std::string> origins) {
    Graph& graph = context.graph;
    const Node node = graph.node(linear.node);
    const Tensor weights = *known(graph, node.inputs[1]);
    const WeightMap map(node, weights.shape());
    const auto factor = [&](int64_t channel) { return scale.empty() ? 1.0 : scale[static_cast<size_t>(channel)]; };
    std::vector<double> scaled(static_cast<size_t>(weights.elements()));
    for (size_t i = 0; i < scaled.size(); ++i)
        scaled[i] = weights.at(static_cast<int64_t>(i)) * factor(map.at(static_cast<int64_t>(i)).out);
    std::vector<double> bias = *bias_of(graph, linear);
    for (size_t i = 0; i < bias.size(); ++i)
        bias[i] = bias[i] * factor(static_cast<int64_t>(i)) + (shift.empty() ? 0.0 : shift[i] / beta_of(node));
    if (!linear.has_bias_input && std::ranges::any_of(bias, [](double x) { return x != 0; }))
        return Verdict::no(Reason::pattern, "MatMul has no bias");
    if (!all_finite(scaled) || !all_finite(bias)) return not_finite();
    std::vector<ValueId> inputs = with_weights(graph, linear, scaled, bias);
    const NodeId made = append_as(context, result, node.op, std::move(inputs), node.attributes, std::move(origins));
    graph.node(made).version = node.version;
    return Verdict::yes();
}

Verdict scale_input(PassContext& context, const Linear& linear, const std::vector<double>& scale,
                    const std::vector<double>& shift, ValueId input, std::vector<std::string> origins) {
    Graph& graph = context.graph;
    const Node node = graph.node(linear.node);
    const bool shifts = std::ranges::any_of(shift, [](double x) { return x != 0; });
    if (shifts && linear.pads) return Verdict::no(Reason::attribute, "padding is not shifted");
    if (shifts && !linear.has_bias_input) return Verdict::no(Reason::pattern, "MatMul has no bias");
    const Tensor weights = *known(graph, node.inputs[1]);
    const WeightMap map(node, weights.shape());
    std::vector<double> scaled(static_cast<size_t>(weights.elements()));
    std::vector<double> bias = *bias_of(graph, linear);
    for (size_t i = 0; i < scaled.size(); ++i) {
        const Channels channels = map.at(static_cast<int64_t>(i));
        const double weight = weights.at(static_cast<int64_t>(i));
        scaled[i] = weight * (scale.empty() ? 1.0 : scale[static_cast<size_t>(channels.in)]);
        if (shifts)
            bias[static_cast<size_t>(channels.out)] +=
                weight * shift[static_cast<size_t>(channels.in)] * alpha_of(node) / beta_of(node);
    }
    if (!all_finite(scaled) || !all_finite(bias)) return not_finite();
    std::vector<ValueId> inputs = with_weights(graph, linear, scaled, bias);
    inputs[0] = input;
    const NodeId made =
        append_as(context, node.outputs[0], node.op, std::move(inputs), node.attributes, std::move(origins));
    graph.node(made).version = node.version;
    return Verdict::yes();
}

}  // namespace headway
