// Questions that passes ask of the neighbourhood of a node: who made a value, who reads it, is it this number. They
// look only at operators of the ONNX domain, and hide where an opset keeps a parameter (attribute or input).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "graph/graph.h"

namespace headway {

// Readers of every value at the time of construction; make a new one after a rewrite.
class Uses {
public:
    explicit Uses(const Graph& graph) : graph_(&graph), readers_(graph.consumers()) {}

    // The nodes that read the value, once per reading input.
    const std::vector<NodeId>& readers(ValueId value) const { return readers_[static_cast<size_t>(value)]; }
    // The one node that reads the value, when it does so once and the value is no graph output; no_node otherwise.
    NodeId sole_reader(ValueId value) const;
    bool is_sole(ValueId value) const { return sole_reader(value) != no_node; }
    bool is_read(ValueId value) const { return !readers(value).empty() || graph_->is_output(value); }

private:
    const Graph* graph_;
    std::vector<std::vector<NodeId>> readers_;
};

// Whether the node is this operator of the ONNX domain.
bool is_op(const Node& node, std::string_view op);
// The live node that makes the value if it is this operator; no_node otherwise.
NodeId made_by(const Graph& graph, ValueId value, std::string_view op);
// Input i, or no_value when the node has fewer.
ValueId input_of(const Node& node, size_t index);

// A constant that no caller can override. nullptr otherwise.
const Tensor* known(const Graph& graph, ValueId value);
// The only element of an f32 constant of one element.
std::optional<float> scalar_constant(const Graph& graph, ValueId value);
// The same when all elements of an f32 constant are equal.
std::optional<float> uniform_constant(const Graph& graph, ValueId value);
bool is_near(double value, double wanted);  // within 1e-6 relative: constants as exporters round them
bool has_exact_reciprocal(float value);     // a power of two

// A constant operand of a binary node and the other one.
struct ConstantOperand {
    ValueId variable = no_value;
    ValueId constant = no_value;
    bool constant_first = false;
};
// Nothing when none or both are constants, or when the result has another shape or type than the variable.
std::optional<ConstantOperand> constant_operand(const Graph& graph, const Node& node);

// The values along `axis` of a constant that, broadcast to `result`, varies along no other axis; one per index of that
// axis. Nothing when it does vary otherwise or would enlarge the result.
std::optional<std::vector<double>> along_axis(const Tensor& constant, const Shape& result, size_t axis);
// Whether a value of shape `operand` broadcasts to `result` without enlarging it.
bool broadcasts_into(const Shape& operand, const Shape& result);

struct Bounds {
    float low, high;
};
// Bounds of a Clip as numbers, infinite where absent. Nothing when they are computed at run time.
std::optional<Bounds> clip_bounds(const Graph& graph, const Node& node);

// Axes of a Squeeze, Unsqueeze or Reduce*, from the attribute or the input, as written. Empty when absent; nothing when
// computed at run time.
std::optional<std::vector<int64_t>> axes_of(const Graph& graph, const Node& node);

// Integers of an input known at build time.
std::optional<std::vector<int64_t>> known_integers(const Graph& graph, ValueId value);

struct PadAmounts {
    std::vector<int64_t> begin, end;  // per axis of the input
};
// Amounts of a Pad of mode constant; nothing for other modes or amounts computed at run time.
std::optional<PadAmounts> constant_pads(const Graph& graph, const Node& node);
// The value that such a Pad fills with; nothing when computed at run time.
std::optional<double> pad_fill(const Graph& graph, const Node& node);

struct SliceRange {
    std::vector<int64_t> starts, steps;  // per axis of the input; the extents are those of the output
};
// Nothing when computed at run time.
std::optional<SliceRange> slice_range(const Graph& graph, const Node& node);

}  // namespace headway
