// Scales and zero points that are known at build time, of QuantizeLinear and DequantizeLinear nodes.
#pragma once

#include <optional>

#include "passes/match.h"

namespace headway {

// One scale and zero point of a tensor of 8-bit integers.
struct QuantizedAs {
    ElementType type = ElementType::u8;
    float scale = 1;
    int64_t zero = 0;

    int64_t low() const { return type == ElementType::u8 ? 0 : -128; }
    int64_t high() const { return low() + 255; }
    bool operator==(const QuantizedAs&) const = default;
};

// Of the node between f32 and 8-bit integers; nothing for several scales, other types, or what is computed at run time.
std::optional<QuantizedAs> quantized_as(const Graph& graph, const Node& node);

}  // namespace headway
