#include "passes/quantized.h"

#include <cmath>

namespace headway {

std::optional<QuantizedAs> quantized_as(const Graph& graph, const Node& node) {
    const bool forwards = is_op(node, "QuantizeLinear");
    if (!forwards && !is_op(node, "DequantizeLinear")) return std::nullopt;
    const ValueId bytes = forwards ? node.outputs[0] : node.inputs[0];
    const ValueId floats = forwards ? node.inputs[0] : node.outputs[0];
    QuantizedAs result;
    result.type = graph.value(bytes).type;
    if ((result.type != ElementType::u8 && result.type != ElementType::i8) ||
        graph.value(floats).type != ElementType::f32)
        return std::nullopt;
    // What is divided in; 1 is f32.
    if (const int64_t type = node.attributes.integer("precision", 0); type != 0 && type != 1) return std::nullopt;
    const std::optional<float> scale = scalar_constant(graph, node.inputs[1]);
    if (!scale || !std::isnormal(*scale)) return std::nullopt;
    result.scale = *scale;
    if (const ValueId zero = input_of(node, 2); zero != no_value) {
        const Tensor* known_zero = known(graph, zero);
        if (known_zero == nullptr || known_zero->elements() != 1) return std::nullopt;
        result.zero = static_cast<int64_t>(known_zero->at(0));
    }
    return result;
}

}  // namespace headway
