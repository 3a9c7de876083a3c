// Products of quantised tensors that are quantised again: QLinearConv, QLinearMatMul and QGemm, all seen as a
// convolution of pixels in rows. All but the left operand is known at build time.
#pragma once

#include <vector>

#include "kernels/cpu/conv/geometry.h"
#include "kernels/cpu/integer/product.h"

namespace headway {

struct RequantizedProblem {
    ConvGeometry g{};
    ElementType x_type = ElementType::u8, w_type = ElementType::i8, y_type = ElementType::u8;
    // Where the inputs stand among the operator's; x is the first.
    size_t x_scale = 1, x_zero = 2, w = 3, w_scale = 4, w_zero = 5, y_scale = 6, y_zero = 7, bias = 8;
    // Bytes between weights of neighbouring taps (channels of a tap), and of neighbouring output channels.
    int64_t tap_step = 1, channel_step = 1, out_step = 1;

    bool is_depthwise() const { return g.group > 1 && g.group_ic() == 1 && g.group_oc() == 1; }
    IntegerPanels panels() const { return {g.k(), g.group_oc()}; }

    static Verdict make(const Problem& problem, RequantizedProblem& product);
};

// The blobs of a product, in this order.
enum class RequantizedBlob : size_t {
    weights,   // panels of each group, k in the order (tap, channel); depthwise without w_zero: i8[tap][channel]
    column,    // i32 for each output channel: what zero points and bias add to its sums
    w_zero,    // i32 for each output channel, after the moves that micro.h speaks of
    scale,     // f32 for each output channel: of x * of w / of y
    x_zero,    // one i32: what stands for 0 in x, moved
    y_bounds,  // f32: lowest and highest value before the zero point is added, and the zero point
};
std::vector<Tensor> pack_requantized(const RequantizedProblem& product, std::span<const Tensor* const> constants);

}  // namespace headway
