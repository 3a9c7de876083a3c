// Nodes that move no bytes: their output is their input's memory under another shape or layout.
#pragma once

#include <optional>

#include "graph/graph.h"
#include "tensor/layout.h"

namespace headway {

// The layout in which the node's output is its (only data) input's memory, when the input lies in `layout`; nothing
// when bytes must move. Handles Identity, Reshape, Flatten, Squeeze, Unsqueeze and Transpose. A tensor's memory is
// described by the order of its axes (extents of 1 left out): Transpose renames them, the others regroup neighbours,
// and the result counts when it is the order of a known layout of the output shape.
std::optional<Layout> view_layout(const Node& node, const Shape& src, Layout layout, const Shape& dst);

// Whether a tensor of this shape has the same bytes in both layouts (plain and nhwc with one channel or one pixel,
// ...).
bool same_bytes(const Shape& shape, Layout a, Layout b);

}  // namespace headway
