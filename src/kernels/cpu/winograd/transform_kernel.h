// The transforms of transform.h, written once against `vf`. Coefficients: Lavin and Gray, "Fast Algorithms for
// Convolutional Neural Networks" (2015), by the Toom-Cook construction at the points 0, 1, -1, 2, -2, 1/2, -1/2 and
// infinity (F(6,3)), or the first of them.
#pragma once

#include "kernels/cpu/simd.h"
#include "kernels/cpu/winograd/transform.h"

namespace headway::HEADWAY_ISA {
namespace {

HEADWAY_INLINE vf load_channels(const float* p, int count) { return count == lanes ? load(p) : load_first(p, count); }
HEADWAY_INLINE void store_channels(float* p, vf a, int count) {
    if (count == lanes)
        store(p, a);
    else
        store_first(p, a, count);
}

HEADWAY_INLINE void transform_input(const vf (&d)[4], vf (&t)[4]) {
    t[0] = d[0] - d[2];
    t[1] = d[1] + d[2];
    t[2] = d[2] - d[1];
    t[3] = d[1] - d[3];
}
HEADWAY_INLINE void transform_input(const vf (&d)[6], vf (&t)[6]) {
    const vf two = broadcast(2), four = broadcast(4), minus_four = broadcast(-4), minus_five = broadcast(-5);
    const vf even4 = fma(minus_four, d[2], d[4]), odd4 = fma(minus_four, d[1], d[3]);
    const vf even1 = d[4] - d[2], odd1 = two * (d[3] - d[1]);
    t[0] = fma(four, d[0], fma(minus_five, d[2], d[4]));
    t[1] = even4 + odd4;
    t[2] = even4 - odd4;
    t[3] = even1 + odd1;
    t[4] = even1 - odd1;
    t[5] = fma(four, d[1], fma(minus_five, d[3], d[5]));
}

HEADWAY_INLINE void transform_input(const vf (&d)[8], vf (&t)[8]) {
    const vf far = broadcast(5.25F), near = broadcast(-4.25F), two = broadcast(2), half = broadcast(0.5F);
    t[0] = fma(far, d[4] - d[2], d[0] - d[6]);
    t[7] = fma(far, d[3] - d[5], d[7] - d[1]);
    const vf even1 = fma(near, d[4], d[2] + d[6]), odd1 = fma(near, d[3], d[1] + d[5]);
    t[1] = even1 + odd1;
    t[2] = even1 - odd1;
    const vf even2 = fma(broadcast(0.25F), d[2], fma(broadcast(-1.25F), d[4], d[6]));
    const vf odd2 = fma(half, d[1], fma(broadcast(-2.5F), d[3], two * d[5]));
    t[3] = even2 + odd2;
    t[4] = even2 - odd2;
    const vf even3 = fma(broadcast(4), d[2], fma(broadcast(-5), d[4], d[6]));
    const vf odd3 = fma(two, d[1], fma(broadcast(-2.5F), d[3], half * d[5]));
    t[5] = even3 + odd3;
    t[6] = even3 - odd3;
}

HEADWAY_INLINE void transform_output(const vf (&p)[4], vf (&o)[2]) {
    o[0] = p[0] + p[1] + p[2];
    o[1] = p[1] - p[2] - p[3];
}
HEADWAY_INLINE void transform_output(const vf (&p)[6], vf (&o)[4]) {
    const vf sum1 = p[1] + p[2], minus1 = p[1] - p[2], sum2 = p[3] + p[4], minus2 = p[3] - p[4];
    o[0] = p[0] + sum1 + sum2;
    o[1] = fma(broadcast(2), minus2, minus1);
    o[2] = fma(broadcast(4), sum2, sum1);
    o[3] = fma(broadcast(8), minus2, minus1 + p[5]);
}
HEADWAY_INLINE void transform_output(const vf (&p)[8], vf (&o)[6]) {
    const vf sum1 = p[1] + p[2], minus1 = p[1] - p[2], sum2 = p[3] + p[4], minus2 = p[3] - p[4];
    const vf sum3 = p[5] + p[6], minus3 = p[5] - p[6];
    o[0] = fma(broadcast(32), sum3, p[0] + sum1 + sum2);
    o[1] = fma(broadcast(2), minus2, fma(broadcast(16), minus3, minus1));
    o[2] = fma(broadcast(4), sum2, fma(broadcast(8), sum3, sum1));
    o[3] = fma(broadcast(8), minus2, fma(broadcast(4), minus3, minus1));
    o[4] = fma(broadcast(16), sum2, fma(broadcast(2), sum3, sum1));
    o[5] = fma(broadcast(32), minus2, minus1 + minus3 + p[7]);
}

template <int m>
HEADWAY_INLINE void input_channels(const float* const* src, int64_t channel, float* dst, int64_t point_step,
                                   int count) {
    constexpr int edge = m + 2;
    vf columns[edge][edge];  // [column][row], transformed along rows
#pragma GCC unroll 8
    for (int x = 0; x < edge; ++x) {
        vf d[edge];
#pragma GCC unroll 8
        for (int y = 0; y < edge; ++y) d[y] = load_channels(src[y * edge + x] + channel, count);
        transform_input(d, columns[x]);
    }
#pragma GCC unroll 8
    for (int y = 0; y < edge; ++y) {
        vf d[edge], t[edge];
#pragma GCC unroll 8
        for (int x = 0; x < edge; ++x) d[x] = columns[x][y];
        transform_input(d, t);
#pragma GCC unroll 8
        for (int x = 0; x < edge; ++x) store_channels(dst + (y * edge + x) * point_step + channel, t[x], count);
    }
}

template <int m>
void winograd_input(const float* const* src, float* dst, int64_t point_step, int64_t channels) {
    int64_t channel = 0;
    for (; channel + lanes <= channels; channel += lanes) input_channels<m>(src, channel, dst, point_step, lanes);
    if (channel < channels) input_channels<m>(src, channel, dst, point_step, static_cast<int>(channels - channel));
}

template <int m>
HEADWAY_INLINE void output_channels(const WinogradTransforms::Tile& tile, int64_t channel, int count) {
    constexpr int edge = m + 2;
    vf columns[edge][m];  // [column][output row]
#pragma GCC unroll 8
    for (int x = 0; x < edge; ++x) {
        vf p[edge];
#pragma GCC unroll 8
        for (int y = 0; y < edge; ++y)
            p[y] = load_channels(tile.src + (y * edge + x) * tile.point_step + channel, count);
        transform_output(p, columns[x]);
    }
    const vf bias = load(tile.bias + channel);
    for (int y = 0; y < tile.rows; ++y) {
        vf p[edge], o[m];
#pragma GCC unroll 8
        for (int x = 0; x < edge; ++x) p[x] = columns[x][y];
        transform_output(p, o);
        float* dst = tile.dst + y * tile.row_step + channel;
#pragma GCC unroll 6
        for (int x = 0; x < m; ++x)
            if (x < tile.columns) store_channels(dst + x * tile.pixel_step, o[x] + bias, count);
    }
}

template <int m>
void winograd_output(const WinogradTransforms::Tile& tile) {
    int64_t channel = 0;
    for (; channel + lanes <= tile.channels; channel += lanes) output_channels<m>(tile, channel, lanes);
    if (channel < tile.channels) output_channels<m>(tile, channel, static_cast<int>(tile.channels - channel));
}

}  // namespace
}  // namespace headway::HEADWAY_ISA
