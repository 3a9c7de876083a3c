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

// Adds one kernel row of any width and spacing.
template <int pixels, bool whole>
HEADWAY_INLINE void add_row(const DepthwiseStrip& strip, const float* row, const float* weights, int count,
                            vf (&sums)[pixels]) {
    for (int64_t x = 0; x < strip.columns; ++x, row += strip.column_step) {
        const vf weight = load(weights + x * lanes);
        const float* src = row;
#pragma GCC unroll 8
        for (int p = 0; p < pixels; ++p, src += strip.pixel_step)
            sums[p] = fma(load_channels<whole>(src, count), weight, sums[p]);
    }
}

// Keeps x in a register: the compiler would rather load it again for each product.
HEADWAY_INLINE void keep(vf& x) {
#if defined(HEADWAY_ISA_AVX512) || defined(HEADWAY_ISA_AVX2)
    asm("" : "+v"(x.v));
#endif
}

// Adds one kernel row of `taps` columns for windows `stride` columns apart, each sum in the order of the columns.
template <int pixels, int taps, int stride, bool edge, bool whole>
HEADWAY_INLINE void add_shared_row(const DepthwiseStrip& strip, const float* row, const float* weights, int count,
                                   vf (&sums)[pixels]) {
    vf weight[taps];
#pragma GCC unroll 7
    for (int t = 0; t < taps; ++t) weight[t] = load(weights + t * lanes);
#pragma GCC unroll 24
    for (int j = 0; j < (pixels - 1) * stride + taps; ++j, row += strip.column_step) {
        if (edge && (j < strip.begin || j >= strip.end)) continue;
        vf x = load_channels<whole>(row, count);
        keep(x);
#pragma GCC unroll 7
        for (int t = 0; t < taps; ++t) {
            const int p = (j - t) / stride;
            if (j >= t && (j - t) % stride == 0 && p < pixels) sums[p] = fma(x, weight[t], sums[p]);
        }
    }
}

// One channel block of `pixels` output pixels; taps 0 = any number of columns.
template <int pixels, int taps, int stride, bool edge, bool whole>
HEADWAY_INLINE void block(const DepthwiseStrip& strip, int64_t channel, const float* weights, int count) {
    vf sums[pixels];
    const vf bias = load(strip.init + channel);
#pragma GCC unroll 8
    for (int p = 0; p < pixels; ++p) sums[p] = bias;
    const float* row = strip.src + channel;
    for (int64_t y = 0; y < strip.rows; ++y, row += strip.row_step, weights += strip.weight_row_step) {
        if constexpr (taps == 0)
            add_row<pixels, whole>(strip, row, weights, count, sums);
        else
            add_shared_row<pixels, taps, stride, edge, whole>(strip, row, weights, count, sums);
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

template <int pixels, int taps, int stride, bool edge>
void depthwise_strip(const DepthwiseStrip& strip) {
    const float* weights = strip.weights;
    int64_t channel = 0;
    for (; channel + lanes <= strip.channels; channel += lanes, weights += strip.weight_block_step)
        block<pixels, taps, stride, edge, true>(strip, channel, weights, lanes);
    if (channel < strip.channels)
        block<pixels, taps, stride, edge, false>(strip, channel, weights, static_cast<int>(strip.channels - channel));
}

template <int pixels, int taps, int stride, bool edge>
constexpr void fill(DepthwiseStrips::Line& line) {
    if constexpr (pixels > 0) {
        line[pixels] = depthwise_strip<pixels, taps, stride, edge>;
        fill<pixels - 1, taps, stride, edge>(line);
    }
}

template <int taps, int stride>
constexpr void fill(DepthwiseStrips::Shared& shared) {
    fill<DepthwiseStrips::most_pixels, taps, stride, false>(shared.inside);
    fill<DepthwiseStrips::most_pixels, taps, stride, true>(shared.edge);
}

constexpr DepthwiseStrips make_depthwise_strips() {
    DepthwiseStrips strips{};
    strips.lanes = lanes;
    fill<DepthwiseStrips::most_pixels, 0, 0, false>(strips.any);
    fill<3, 1>(strips.three_by_one);
    fill<3, 2>(strips.three_by_two);
    fill<5, 1>(strips.five_by_one);
    fill<5, 2>(strips.five_by_two);
    fill<7, 1>(strips.seven_by_one);
    fill<7, 2>(strips.seven_by_two);
    return strips;
}

}  // namespace
}  // namespace headway::HEADWAY_ISA
