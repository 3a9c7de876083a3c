// Sliding windows of convolution and pooling: kernel, strides, dilations, padding and output extents of each spatial
// axis, read from attributes and checked.
#pragma once

#include <cstdint>
#include <vector>

#include "ops/op.h"

namespace headway {

struct Window {
    int64_t kernel = 1, stride = 1, dilation = 1;
    int64_t begin = 0, end = 0;  // padding
    int64_t in = 1, out = 1;     // extents

    int64_t reach() const { return dilation * (kernel - 1) + 1; }
    // Input position of tap k for output o; outside [0, in) in the padding.
    int64_t position(int64_t o, int64_t k) const { return o * stride - begin + k * dilation; }
};

// One window per spatial axis (axes from 2 on). ceil_mode as ONNX defines it, but a window that would start in the end
// padding is not counted. At most three spatial axes; UserError or Unsupported for attributes out of range.
std::vector<Window> windows_of(const Attributes& attributes, const Shape& input, const std::vector<int64_t>& kernel);

// The attribute with one positive entry per spatial axis, or all ones.
std::vector<int64_t> positive_integers(const Attributes& attributes, const char* name, size_t count);

// kernel_shape, which the operator demands.
std::vector<int64_t> kernel_shape(const Attributes& attributes, const Shape& input);

// The same windows with leading trivial axes up to three.
std::vector<Window> three_axes(std::vector<Window> windows);

}  // namespace headway
