// Products of quantised tensors that are quantised again: QLinearConv, QLinearMatMul and QGemm, all seen as a
// convolution of pixels in rows. All but the left operand is known at build time.
#pragma once

#include <memory>
#include <vector>

#include "base/checked.h"
#include "kernels/cpu/conv/geometry.h"
#include "kernels/cpu/integer/byte_tiles.h"
#include "kernels/cpu/integer/product.h"

namespace headway {

struct RequantizedProblem {
    ConvGeometry g{};
    ElementType x_type = ElementType::u8, w_type = ElementType::i8, y_type = ElementType::u8;
    // Where the inputs stand among the operator's; x is the first.
    size_t x_scale = 1, x_zero = 2, w = 3, w_scale = 4, w_zero = 5, y_scale = 6, y_zero = 7, bias = 8;
    // Bytes between weights of neighbouring taps (channels of a tap), and of neighbouring output channels.
    int64_t tap_step = 1, channel_step = 1, out_step = 1;

    // How the rows of a product come about: see the words.
    enum class RowForm : uint8_t {
        in_place,  // taps of the image, each a segment
        band,      // copies of the image's lines; a line of the window is a segment
        gathered,  // copies of whole windows, one segment
    };
    RowForm row_form() const;
    int64_t segments() const;
    int64_t segment_bytes() const;  // of values; then zeros up to segment_step()
    int64_t segment_step() const { return round_up(segment_bytes(), 4); }
    int64_t row_bytes() const { return segments() * segment_step(); }

    bool is_depthwise() const { return g.group > 1 && g.group_ic() == 1 && g.group_oc() == 1; }
    IntegerPanels panels() const { return {row_bytes(), g.group_oc()}; }
    int64_t panel_columns() const { return panels().panels() * IntegerMicro::columns; }

    static Verdict make(const Problem& problem, RequantizedProblem& product);
    ByteOutput output(float high, float zero) const;
};

// The weight of an output channel at a tap, for a channel of its group, as stored.
std::byte requantized_weight(const RequantizedProblem& product, const Tensor& w, int64_t out, int64_t tap,
                             int64_t channel);
// What is the same for all ways to multiply.
struct RequantizedTerms {
    std::vector<int32_t> w_zero;  // for each output channel, after the moves that micro.h speaks of
    std::vector<float> scale;     // for each output channel: of x * of w / of y
    std::vector<int32_t> bias;
    int32_t x_zero = 0;        // what stands for 0 in x, moved
    float high = 0, zero = 0;  // highest value of y before its zero point is added, and that
};
RequantizedTerms requantized_terms(const RequantizedProblem& product, std::span<const Tensor* const> constants);

// The two ways: rows times panels, and channel by channel.
std::vector<Tensor> pack_requantized(const RequantizedProblem& product, std::span<const Tensor* const> constants);
std::unique_ptr<Prepared> prepare_requantized(const IntegerIsa& isa, const RequantizedProblem& product,
                                              int64_t tile_rows);
std::vector<Tensor> pack_requantized_depthwise(const IntegerIsa& isa, const RequantizedProblem& product,
                                               std::span<const Tensor* const> constants);
std::unique_ptr<Prepared> prepare_requantized_depthwise(const IntegerIsa& isa, const RequantizedProblem& product,
                                                        int64_t tile_pixels);

}  // namespace headway
