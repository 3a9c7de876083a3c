// Conv, Gemm, MatMul and Add between DequantizeLinear and QuantizeLinear are computed on the integers: QLinearConv,
// QGemm, QLinearMatMul and QLinearAdd. The sums of products are exact; a result near the middle between two steps may
// round to the other one.
#include <algorithm>
#include <cmath>
#include <limits>

#include "passes/pass.h"
#include "passes/quantized.h"
#include "passes/rewrite.h"

namespace headway {
namespace {

const Knob<std::string_view> enabled{{
    .name = "rewrite_qdq_integer",
    .help = "Computes products and sums between DequantizeLinear and QuantizeLinear on the 8-bit integers: all, or all "
            "but depthwise convolutions. Off wins where integers have no fast instruction.",
    .family = "rewrite",
    .values = {"all", "dense", "off"},
    .numerics = Numerics::approximates,
    .scope = Scope::site,
    .witness = "qdq_conv",
}};

// Weights as stored, with a scale for the whole or for each output channel.
struct QuantizedWeights {
    ValueId values = no_value;
    Tensor scale, zero;  // copies: constants move as the graph grows

    double scale_at(int64_t channel) const { return scale.at(scale.elements() == 1 ? 0 : channel); }
};

std::optional<QuantizedWeights> weights_of(const Graph& graph, ValueId value, int64_t axis, int64_t channels) {
    const NodeId id = made_by(graph, value, "DequantizeLinear");
    if (id == no_node) return std::nullopt;
    const Node& node = graph.node(id);
    const Tensor* values = known(graph, node.inputs[0]);
    const Tensor* scale = known(graph, node.inputs[1]);
    if (values == nullptr || scale == nullptr || scale->type() != ElementType::f32 ||
        (values->type() != ElementType::i8 && values->type() != ElementType::u8))
        return std::nullopt;
    QuantizedWeights weights{node.inputs[0], *scale, Tensor(values->type(), scale->shape())};
    if (const ValueId zero = input_of(node, 2); zero != no_value) {
        const Tensor* given = known(graph, zero);
        if (given == nullptr || given->shape() != scale->shape()) return std::nullopt;
        weights.zero = *given;
    }
    if (scale->elements() == 1 && scale->shape().rank() <= 1) return weights;
    const auto rank = static_cast<int64_t>(values->shape().rank());
    const int64_t along = node.attributes.integer("axis", 1);
    if ((along < 0 ? along + rank : along) != axis || scale->shape() != Shape{channels}) return std::nullopt;
    return weights;
}

// The values of a bias for each channel: a constant, or the numbers that constant integers stand for.
std::optional<std::vector<double>> bias_of(const Graph& graph, ValueId value, int64_t channels) {
    std::vector<double> bias(static_cast<size_t>(channels), 0);
    if (value == no_value) return bias;
    if (const Tensor* tensor = known(graph, value)) {
        if (tensor->type() != ElementType::f32 || tensor->elements() != channels) return std::nullopt;
        for (int64_t i = 0; i < channels; ++i) bias[static_cast<size_t>(i)] = tensor->at(i);
        return bias;
    }
    const NodeId id = made_by(graph, value, "DequantizeLinear");
    if (id == no_node) return std::nullopt;
    const Node& node = graph.node(id);
    const Tensor* integers = known(graph, node.inputs[0]);
    const Tensor* scale = known(graph, node.inputs[1]);
    const ValueId zero_input = input_of(node, 2);
    const Tensor* zero = zero_input == no_value ? nullptr : known(graph, zero_input);
    if (integers == nullptr || scale == nullptr || integers->elements() != channels) return std::nullopt;
    if (zero_input != no_value && (zero == nullptr || zero->elements() != scale->elements())) return std::nullopt;
    if (scale->elements() != 1 && scale->elements() != channels) return std::nullopt;
    for (int64_t i = 0; i < channels; ++i) {
        const int64_t k = scale->elements() == 1 ? 0 : i;
        bias[static_cast<size_t>(i)] = (integers->at(i) - (zero == nullptr ? 0 : zero->at(k))) * scale->at(k);
    }
    return bias;
}

// Whether bounds before the quantisation change nothing, because its range ends there anyway.
bool is_beyond_range(const QuantizedAs& form, const Bounds& bounds) {
    const auto step = [&](float bound) { return std::nearbyint(bound / form.scale) + static_cast<float>(form.zero); };
    return step(bounds.low) <= static_cast<float>(form.low()) && step(bounds.high) >= static_cast<float>(form.high());
}

// One product between integers.
class Rewriting {
public:
    Rewriting(PassContext& context, const Uses& uses, NodeId quantize)
        : context_(context), graph_(context.graph), uses_(uses), nodes_{quantize} {}

    // The Conv, Gemm, MatMul or Add whose result is quantised here; no_node where there is none.
    NodeId find_anchor() {
        const std::optional<QuantizedAs> form = quantized_as(graph_, graph_.node(nodes_[0]));
        if (!form) return no_node;
        to_ = *form;
        ValueId value = graph_.node(nodes_[0]).inputs[0];
        while (uses_.is_sole(value) && graph_.value(value).producer != no_node) {
            const NodeId id = graph_.value(value).producer;
            const Node& node = graph_.node(id);
            nodes_.push_back(id);
            if (is_op(node, "Conv") || is_op(node, "Gemm") || is_op(node, "MatMul") || is_op(node, "Add")) return id;
            if (is_op(node, "Relu"))
                add_bounds({0, std::numeric_limits<float>::infinity()});
            else if (const auto bounds = is_op(node, "Clip") ? clip_bounds(graph_, node) : std::nullopt)
                add_bounds(*bounds);
            else
                return no_node;
            value = node.inputs[0];
        }
        return no_node;
    }

    Verdict take(NodeId anchor) {
        if (!is_beyond_range(to_, bounds_))
            return Verdict::no(Reason::pattern, "an activation ends within the range of the output");
        const Node node = graph_.node(anchor);
        return is_op(node, "Add") ? take_sum(node) : take_product(node);
    }

private:
    Verdict take_product(const Node& node) {
        const NodeId from = made_by(graph_, node.inputs[0], "DequantizeLinear");
        if (from == no_node) return Verdict::no(Reason::pattern, "its input is not dequantised");
        const std::optional<QuantizedAs> x = quantized_as(graph_, graph_.node(from));
        if (!x) return Verdict::no(Reason::pattern, "its input has several scales or other types");
        const Shape& w_shape = graph_.value(node.inputs[1]).shape();
        const bool turned = is_op(node, "Gemm") && node.attributes.integer("transB", 0) != 0;
        const int64_t axis = is_op(node, "Conv") || turned ? 0 : 1;
        if (const Verdict verdict = check_form(node); !verdict) return verdict;
        if (is_op(node, "Conv") && w_shape[1] == 1 && node.attributes.integer("group", 1) > 1 &&
            context_.route.get(enabled, node.origins) == "dense")
            return Verdict::no(Reason::knob, "rewrite_qdq_integer=dense leaves depthwise convolutions in f32");
        const int64_t channels = w_shape[static_cast<size_t>(axis)];
        const std::optional<QuantizedWeights> w = weights_of(graph_, node.inputs[1], axis, channels);
        if (!w) return Verdict::no(Reason::needs_constant, "weights in 8-bit integers");
        const std::optional<std::vector<double>> bias = bias_of(graph_, input_of(node, 2), channels);
        if (!bias) return Verdict::no(Reason::needs_constant, "bias");
        std::vector<int32_t> steps;
        if (const Verdict verdict = in_steps(*bias, *x, *w, steps); !verdict) return verdict;
        append(node, graph_.node(from).inputs[0], *x, *w, steps);
        return Verdict::yes();
    }

    Verdict take_sum(const Node& node) {
        std::vector<std::pair<ValueId, QuantizedAs>> terms;
        for (ValueId input : node.inputs) {
            const NodeId from = made_by(graph_, input, "DequantizeLinear");
            if (from == no_node) return Verdict::no(Reason::pattern, "an input is not dequantised");
            const std::optional<QuantizedAs> x = quantized_as(graph_, graph_.node(from));
            if (!x || x->type != to_.type)
                return Verdict::no(Reason::pattern, "an input has several scales or another type");
            if (graph_.value(input).shape() != graph_.value(node.outputs[0]).shape())
                return Verdict::no(Reason::shape, "an input is broadcast");
            const ValueId values = graph_.node(from).inputs[0];
            if (known(graph_, values) != nullptr) return Verdict::no(Reason::pattern, "an input is a constant");
            terms.emplace_back(values, *x);
        }
        std::vector<ValueId> inputs;
        for (const auto& [values, x] : terms)
            inputs.insert(inputs.end(), {values, number(".x_scale", Tensor::scalar<float>(x.scale)), zero_of(x)});
        inputs.insert(inputs.end(), {number(".y_scale", Tensor::scalar<float>(to_.scale)), zero_of(to_)});
        replace("com.microsoft/QLinearAdd", std::move(inputs), {});
        return Verdict::yes();
    }

    void add_bounds(const Bounds& bounds) {
        bounds_.low = std::max(bounds_.low, bounds.low);
        bounds_.high = std::min(bounds_.high, bounds.high);
    }

    Verdict check_form(const Node& node) const {
        const size_t rank = graph_.value(node.inputs[0]).shape().rank();
        const size_t w_rank = graph_.value(node.inputs[1]).shape().rank();
        if (is_op(node, "Conv"))
            return rank == 3 || rank == 4 ? Verdict::yes() : Verdict::no(Reason::shape, "three spatial axes");
        if (w_rank != 2 || rank < 2) return Verdict::no(Reason::shape, "weights of other than two axes");
        if (is_op(node, "Gemm") && (node.attributes.integer("transA", 0) != 0 ||
                                    node.attributes.real("alpha", 1) != 1 || node.attributes.real("beta", 1) != 1))
            return Verdict::no(Reason::attribute, "transA, alpha or beta");
        return Verdict::yes();
    }

    // The bias in units of the sums. It must not lose more than a small part of an output's step.
    Verdict in_steps(const std::vector<double>& bias, const QuantizedAs& x, const QuantizedWeights& w,
                     std::vector<int32_t>& steps) const {
        for (size_t i = 0; i < bias.size(); ++i) {
            const double unit = static_cast<double>(x.scale) * w.scale_at(static_cast<int64_t>(i));
            const double exact = bias[i] / unit, rounded = std::nearbyint(exact);
            if (!(std::fabs(rounded) < 1 << 30)) return Verdict::no(Reason::accuracy, "a bias beyond 30 bits");
            if (std::fabs(exact - rounded) * unit > to_.scale / 64)
                return Verdict::no(Reason::accuracy, "a bias that the integers cannot express");
            steps.push_back(static_cast<int32_t>(rounded));
        }
        return Verdict::yes();
    }

    ValueId number(const char* hint, Tensor tensor) {
        return graph_.add_constant(graph_.node(nodes_[0]).origins.front() + hint, std::move(tensor));
    }
    ValueId zero_of(const QuantizedAs& form) {
        Tensor tensor(form.type, {});
        tensor.set(0, static_cast<double>(form.zero));
        return number(".zero", std::move(tensor));
    }

    // All from the anchor to the quantisation becomes one node.
    void replace(std::string_view op, std::vector<ValueId> inputs, Attributes attributes) {
        const std::vector<NodeId> by_rank(nodes_.rbegin(), nodes_.rend());
        append_as(context_, graph_.node(nodes_[0]).outputs[0], op, std::move(inputs), std::move(attributes),
                  merged_origins(graph_, by_rank));
    }

    void append(const Node& node, ValueId x_values, const QuantizedAs& x, const QuantizedWeights& w,
                const std::vector<int32_t>& steps) {
        std::vector<ValueId> inputs{x_values,
                                    number(".x_scale", Tensor::scalar<float>(x.scale)),
                                    zero_of(x),
                                    w.values,
                                    number(".w_scale", w.scale),
                                    number(".w_zero", w.zero)};
        const ValueId y_scale = number(".y_scale", Tensor::scalar<float>(to_.scale));
        const ValueId y_zero = zero_of(to_);
        Tensor bias(ElementType::i32, {static_cast<int64_t>(steps.size())});
        std::ranges::copy(steps, bias.mutable_data<int32_t>().begin());
        std::string op = "QLinearMatMul";
        Attributes attributes;
        if (is_op(node, "Gemm")) {
            op = "com.microsoft/QGemm";
            attributes.set("transB", node.attributes.integer("transB", 0));
            inputs.push_back(number(".bias", std::move(bias)));
        }
        inputs.insert(inputs.end(), {y_scale, y_zero});
        if (is_op(node, "Conv")) {
            op = "QLinearConv";
            attributes = node.attributes;
            inputs.push_back(number(".bias", std::move(bias)));
        }
        replace(op, std::move(inputs), std::move(attributes));
    }

    PassContext& context_;
    Graph& graph_;
    const Uses& uses_;
    std::vector<NodeId> nodes_;  // from the quantisation back to the product
    QuantizedAs to_;
    Bounds bounds_{-std::numeric_limits<float>::infinity(), std::numeric_limits<float>::infinity()};
};

bool run(PassContext& context) {
    Graph& graph = context.graph;
    return rewrite_each(graph, [&](NodeId id) {
        if (!is_op(graph.node(id), "QuantizeLinear")) return false;
        const Uses uses(graph);
        Rewriting rewriting(context, uses, id);
        const NodeId anchor = rewriting.find_anchor();
        if (anchor == no_node) return false;
        const std::string site = site_of(graph, anchor);
        if (context.route.get(enabled, graph.node(anchor).origins) == "off") {
            context.refused(site, "integers", Verdict::no(Reason::knob, "rewrite_qdq_integer=off"));
            return false;
        }
        return context.decided(site, "integers", rewriting.take(anchor));
    });
}

const Pass rewrite_qdq_integer{{
    .name = "rewrite_qdq_integer",
    .help = "Computes products and sums between DequantizeLinear and QuantizeLinear on the integers.",
    .enabled = &enabled,
    .run = run,
}};

}  // namespace
}  // namespace headway
