#include "passes/match.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace headway {

NodeId Uses::sole_reader(ValueId value) const {
    return readers(value).size() == 1 && !graph_->is_output(value) ? readers(value).front() : no_node;
}

bool is_op(const Node& node, std::string_view op) { return node.op == op && node.domain.empty(); }

NodeId made_by(const Graph& graph, ValueId value, std::string_view op) {
    if (value == no_value) return no_node;
    const NodeId producer = graph.value(value).producer;
    return producer != no_node && is_op(graph.node(producer), op) ? producer : no_node;
}

ValueId input_of(const Node& node, size_t index) { return index < node.inputs.size() ? node.inputs[index] : no_value; }

const Tensor* known(const Graph& graph, ValueId value) {
    if (value == no_value || std::ranges::find(graph.inputs, value) != graph.inputs.end()) return nullptr;
    return graph.constant(value);
}

std::optional<float> scalar_constant(const Graph& graph, ValueId value) {
    const Tensor* tensor = known(graph, value);
    if (!tensor || tensor->type() != ElementType::f32 || tensor->elements() != 1) return std::nullopt;
    return tensor->data<float>()[0];
}

std::optional<float> uniform_constant(const Graph& graph, ValueId value) {
    const Tensor* tensor = known(graph, value);
    if (!tensor || tensor->type() != ElementType::f32 || tensor->elements() == 0) return std::nullopt;
    const auto data = tensor->data<float>();
    if (!std::ranges::all_of(data, [&](float x) { return x == data[0]; })) return std::nullopt;
    return data[0];
}

bool is_near(double value, double wanted) {
    constexpr double exporter_rounding = 1e-6;
    return std::abs(value - wanted) <= exporter_rounding * std::abs(wanted);
}

bool has_exact_reciprocal(float value) {
    int exponent = 0;
    return std::abs(std::frexp(value, &exponent)) == 0.5F && std::isnormal(value) && std::isnormal(1 / value);
}

std::optional<ConstantOperand> constant_operand(const Graph& graph, const Node& node) {
    if (node.inputs.size() != 2 || node.inputs[0] == no_value || node.inputs[1] == no_value) return std::nullopt;
    const bool first = known(graph, node.inputs[0]) != nullptr;
    if (first == (known(graph, node.inputs[1]) != nullptr)) return std::nullopt;
    const ConstantOperand found{node.inputs[first ? 1 : 0], node.inputs[first ? 0 : 1], first};
    const Value& variable = graph.value(found.variable);
    const Value& result = graph.value(node.outputs[0]);
    if (variable.type != result.type || graph.value(found.constant).type != result.type) return std::nullopt;
    if (!variable.has_static_shape() || variable.shape() != result.shape()) return std::nullopt;
    return found;
}

std::optional<std::vector<double>> along_axis(const Tensor& constant, const Shape& result, size_t axis) {
    const Shape& shape = constant.shape();
    if (!broadcasts_into(shape, result) || axis >= result.rank() || constant.elements() == 0) return std::nullopt;
    const size_t lead = result.rank() - shape.rank();
    bool varies = false;
    for (size_t i = 0; i < shape.rank(); ++i) {
        if (shape[i] == 1) continue;
        if (i + lead != axis) return std::nullopt;
        varies = true;
    }
    std::vector<double> values(static_cast<size_t>(result[axis]));
    for (size_t i = 0; i < values.size(); ++i) values[i] = constant.at(varies ? static_cast<int64_t>(i) : 0);
    return values;
}

bool broadcasts_into(const Shape& operand, const Shape& result) {
    if (operand.rank() > result.rank()) return false;
    const size_t lead = result.rank() - operand.rank();
    for (size_t i = 0; i < operand.rank(); ++i)
        if (operand[i] != 1 && operand[i] != result[i + lead]) return false;
    return true;
}

std::optional<Bounds> clip_bounds(const Graph& graph, const Node& node) {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    Bounds bounds{-infinity, infinity};
    if (node.version > 0 && node.version < 11)
        return Bounds{node.attributes.real("min", -infinity), node.attributes.real("max", infinity)};
    for (size_t i : {1, 2}) {
        if (input_of(node, i) == no_value) continue;
        const std::optional<float> bound = scalar_constant(graph, node.inputs[i]);
        if (!bound) return std::nullopt;
        (i == 1 ? bounds.low : bounds.high) = *bound;
    }
    return bounds;
}

std::optional<std::vector<int64_t>> known_integers(const Graph& graph, ValueId value) {
    const Tensor* tensor = known(graph, value);
    if (!tensor || is_float(tensor->type())) return std::nullopt;
    return tensor->to_int64();
}

std::optional<std::vector<int64_t>> axes_of(const Graph& graph, const Node& node) {
    if (node.attributes.has("axes")) return node.attributes.integers("axes");
    if (input_of(node, 1) == no_value) return std::vector<int64_t>{};
    return known_integers(graph, node.inputs[1]);
}

std::optional<PadAmounts> constant_pads(const Graph& graph, const Node& node) {
    if (node.attributes.text("mode", "constant") != "constant") return std::nullopt;
    const size_t rank = graph.value(node.inputs[0]).shape().rank();
    std::optional<std::vector<int64_t>> pads = node.attributes.integers("pads");
    if (pads->empty()) pads = known_integers(graph, input_of(node, 1));
    if (!pads) return std::nullopt;
    std::vector<int64_t> axes(rank);
    std::iota(axes.begin(), axes.end(), 0);
    if (input_of(node, 3) != no_value) {
        const auto given = known_integers(graph, node.inputs[3]);
        if (!given) return std::nullopt;
        axes = *given;
    }
    if (pads->size() != 2 * axes.size()) return std::nullopt;
    PadAmounts amounts{std::vector<int64_t>(rank, 0), std::vector<int64_t>(rank, 0)};
    for (size_t i = 0; i < axes.size(); ++i) {
        const auto axis = static_cast<size_t>(normalized_axis(axes[i], rank));
        amounts.begin[axis] = (*pads)[i];
        amounts.end[axis] = (*pads)[i + axes.size()];
    }
    return amounts;
}

std::optional<double> pad_fill(const Graph& graph, const Node& node) {
    if (node.attributes.has("value")) return node.attributes.real("value", 0);
    if (input_of(node, 2) == no_value) return 0.0;
    const Tensor* fill = known(graph, node.inputs[2]);
    if (!fill || fill->elements() != 1) return std::nullopt;
    return fill->at(0);
}

std::optional<SliceRange> slice_range(const Graph& graph, const Node& node) {
    const Shape shape = graph.value(node.inputs[0]).shape();
    const bool by_attributes = node.attributes.has("starts");
    const auto parameter = [&](const char* name, size_t input) -> std::optional<std::vector<int64_t>> {
        if (by_attributes) return node.attributes.integers(name);
        if (input_of(node, input) == no_value) return std::vector<int64_t>{};
        return known_integers(graph, node.inputs[input]);
    };
    const auto starts = parameter("starts", 1);
    auto axes = parameter("axes", 3);
    auto steps = parameter("steps", 4);
    if (!starts || !axes || !steps) return std::nullopt;
    if (axes->empty()) {
        axes->resize(starts->size());
        std::iota(axes->begin(), axes->end(), 0);
    }
    if (steps->empty()) steps->assign(starts->size(), 1);
    SliceRange range{std::vector<int64_t>(shape.rank(), 0), std::vector<int64_t>(shape.rank(), 1)};
    for (size_t i = 0; i < axes->size(); ++i) {
        const auto axis = static_cast<size_t>(normalized_axis((*axes)[i], shape.rank()));
        const int64_t start = (*starts)[i] < 0 ? (*starts)[i] + shape[axis] : (*starts)[i];
        range.steps[axis] = (*steps)[i];
        range.starts[axis] = range.steps[axis] > 0 ? std::clamp<int64_t>(start, 0, shape[axis])
                                                   : std::clamp<int64_t>(start, -1, shape[axis] - 1);
    }
    return range;
}

}  // namespace headway
