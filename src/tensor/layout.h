// How a tensor with a logical shape N,C,spatial... lies in memory. The logical shape never changes with the layout.
#pragma once

#include <cstdint>
#include <string_view>

#include "tensor/element_type.h"
#include "tensor/shape.h"

namespace headway {

enum class Layout : uint8_t {
    plain = 0,   // row-major in logical order: NCHW for images
    nhwc = 1,    // N, spatial..., C; rank >= 3
    nchw8c = 2,  // N, ceil(C/8), spatial..., 8; the channels of the last block beyond C are zero
    nchw16c = 3,
};

std::string_view to_string(Layout layout);
// Inverse of to_string ("plain", "nhwc", "nchw8c", "nchw16c"); throws UserError for unknown words.
Layout layout_from_string(std::string_view word);
// Channels of one block: 8, 16, or 1 for the unblocked layouts.
int64_t channel_block(Layout layout);

// An element type, a logical shape and a layout: what a buffer holds.
struct TensorDesc {
    ElementType type = ElementType::f32;
    Shape shape;
    Layout layout = Layout::plain;

    // Elements and bytes in memory, padding channels included. UserError when too large.
    int64_t physical_elements() const;
    int64_t bytes() const;
    bool operator==(const TensorDesc&) const = default;
};

}  // namespace headway
