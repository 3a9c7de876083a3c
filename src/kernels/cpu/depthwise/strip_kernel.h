// The strips of strip.h, written once against `vf`.
#pragma once

#include "kernels/cpu/depthwise/strip.h"
#include "kernels/cpu/simd.h"

namespace headway::HEADWAY_ISA {
namespace {

template <bool whole>
HEADWAY_INLINE vf load_channels(const float* p, int count) {
    if constexpr (whole)
        return load(p);
    else
        return load_first(p, count);
}

// One channel block of `pixels` output pixels. `taps` = columns of the kernel when known, else 0.
template <int pixels, int taps, bool whole>
HEADWAY_INLINE void block(const DepthwiseStrip& strip, int64_t channel, const float* weights, int count) {
    vf sums[pixels];
    const vf bias = load(strip.init + channel);
#pragma GCC unroll 8
    for (int p = 0; p < pixels; ++p) sums[p] = bias;
    const float* row = strip.src + channel;
    const int64_t columns = taps != 0 ? taps : strip.columns;
    for (int64_t y = 0; y < strip.rows; ++y, row += strip.row_step, weights += strip.weight_row_step) {
        const float* column = row;
#pragma GCC unroll 5
        for (int64_t x = 0; x < columns; ++x, column += strip.column_step) {
            const vf weight = load(weights + x * lanes);
            const float* src = column;
#pragma GCC unroll 8
            for (int p = 0; p < pixels; ++p, src += strip.pixel_step)
                sums[p] = fma(load_channels<whole>(src, count), weight, sums[p]);
        }
    }
    float* dst = strip.dst + channel;
#pragma GCC unroll 8
    for (int p = 0; p < pixels; ++p, dst += strip.dst_step) {
        if constexpr (whole)
            store(dst, sums[p]);
        else
            store_first(dst, sums[p], count);
    }
}

template <int pixels, int taps>
void depthwise_strip(const DepthwiseStrip& strip) {
    const float* weights = strip.weights;
    int64_t channel = 0;
    for (; channel + lanes <= strip.channels; channel += lanes, weights += strip.weight_block_step)
        block<pixels, taps, true>(strip, channel, weights, lanes);
    if (channel < strip.channels)
        block<pixels, taps, false>(strip, channel, weights, static_cast<int>(strip.channels - channel));
}

template <int pixels, int taps>
constexpr void fill(DepthwiseStripFunction (&line)[DepthwiseStrips::most_pixels + 1]) {
    if constexpr (pixels > 0) {
        line[pixels] = depthwise_strip<pixels, taps>;
        fill<pixels - 1, taps>(line);
    }
}

constexpr DepthwiseStrips make_depthwise_strips() {
    DepthwiseStrips strips{};
    strips.lanes = lanes;
    fill<DepthwiseStrips::most_pixels, 0>(strips.any);
    fill<DepthwiseStrips::most_pixels, 3>(strips.three);
    fill<DepthwiseStrips::most_pixels, 5>(strips.five);
    return strips;
}

}  // namespace
}  // namespace headway::HEADWAY_ISA
