// Inner loops of pooling (see pool_ops.h). Included once by each of pool_ops_<isa>.cpp.
#pragma once

#include "kernels/cpu/pool/pool_ops.h"
#include "kernels/cpu/simd.h"

namespace headway::HEADWAY_ISA {
namespace {

struct JoinMax {
    HEADWAY_INLINE vf finish(vf v, vf) { return v; }
    HEADWAY_INLINE vf join(vf a, vf b) { return max_nan(a, b); }
    HEADWAY_INLINE float join_floats(float a, float b) { return a != a || a > b ? a : b; }
};
struct JoinSum {
    HEADWAY_INLINE vf finish(vf v, vf scale) { return v * scale; }
    HEADWAY_INLINE vf join(vf a, vf b) { return a + b; }
    HEADWAY_INLINE float join_floats(float a, float b) { return a + b; }
};

// Strides that the compiler knows become shuffles.
template <class Join, int stride>
HEADWAY_INLINE void slide_by(const float* row, int64_t taps, int64_t dilation, int64_t step, int64_t n, float* dst) {
    const int64_t by = stride > 0 ? stride : step;
    for (int64_t i = 0; i < n; ++i) dst[i] = row[i * by];
    for (int64_t t = 1; t < taps; ++t) {
        const float* from = row + t * dilation;
        for (int64_t i = 0; i < n; ++i) dst[i] = Join::join_floats(dst[i], from[i * by]);
    }
}

template <class Join>
HEADWAY_INLINE void slide_dense(const float* row, int64_t taps, int64_t dilation, int64_t n, float* dst) {
    int64_t i = 0;
    for (; i + lanes <= n; i += lanes) {
        vf total = load(row + i);
        for (int64_t t = 1; t < taps; ++t) total = Join::join(total, load(row + i + t * dilation));
        store(dst + i, total);
    }
    if (i < n) slide_by<Join, 1>(row + i, taps, dilation, 1, n - i, dst + i);
}

template <class Join>
void slide(const float* row, int64_t taps, int64_t dilation, int64_t stride, int64_t n, float* dst) {
    if (stride == 1)
        slide_dense<Join>(row, taps, dilation, n, dst);
    else if (stride == 2)
        slide_by<Join, 2>(row, taps, dilation, 2, n, dst);
    else
        slide_by<Join, 0>(row, taps, dilation, stride, n, dst);
}

// `width` vectors, of the channels of one window or of neighbouring windows: `step` floats apart in src, `dst_step` in
// dst.
template <class Join, int width>
HEADWAY_INLINE void join_window(const PoolSpan& span, const float* first, int64_t step, float* dst, int64_t dst_step,
                                vf scale) {
    vf total[width];
    for (int k = 0; k < width; ++k) total[k] = load(first + k * step);
    for (int64_t r = 0; r < span.rows; ++r)
        for (int64_t c = r == 0 ? 1 : 0; c < span.cols; ++c)
            for (int k = 0; k < width; ++k)
                total[k] = Join::join(total[k], load(first + r * span.row_step + c * span.col_step + k * step));
    for (int k = 0; k < width; ++k) store(dst + k * dst_step, Join::finish(total[k], scale));
}

template <class Join>
HEADWAY_INLINE void join_rest(const PoolSpan& span, const float* first, float* dst, int count, vf scale) {
    vf total = load_first(first, count);
    for (int64_t r = 0; r < span.rows; ++r)
        for (int64_t c = r == 0 ? 1 : 0; c < span.cols; ++c)
            total = Join::join(total, load_first(first + r * span.row_step + c * span.col_step, count));
    store_first(dst, Join::finish(total, scale), count);
}

// All channels of `width` neighbouring windows.
template <class Join, int width>
HEADWAY_INLINE void join_windows(const PoolSpan& span, int64_t pixel, vf scale) {
    const float* first = span.src + pixel * span.src_step;
    float* dst = span.dst + pixel * span.channels;
    int64_t channel = 0;
    if (width == 1)
        for (; channel + 4 * lanes <= span.channels; channel += 4 * lanes)
            join_window<Join, 4>(span, first + channel, lanes, dst + channel, lanes, scale);
    for (; channel + lanes <= span.channels; channel += lanes)
        join_window<Join, width>(span, first + channel, span.src_step, dst + channel, span.channels, scale);
    for (int p = 0; p < width && channel < span.channels; ++p)
        join_rest<Join>(span, first + p * span.src_step + channel, dst + p * span.channels + channel,
                        static_cast<int>(span.channels - channel), scale);
}

// With few channels, four windows at a time: one alone would wait for each of its own sums.
template <class Join>
void join_span(const PoolSpan& span) {
    const vf scale = broadcast(span.scale);
    int64_t pixel = 0;
    if (span.channels < 4 * lanes)
        for (; pixel + 4 <= span.pixels; pixel += 4) join_windows<Join, 4>(span, pixel, scale);
    for (; pixel < span.pixels; ++pixel) join_windows<Join, 1>(span, pixel, scale);
}

}  // namespace

const PoolOps& pool_ops() {
    static constexpr PoolOps ops{join_span<JoinMax>, join_span<JoinSum>, slide<JoinMax>, slide<JoinSum>};
    return ops;
}

}  // namespace headway::HEADWAY_ISA
