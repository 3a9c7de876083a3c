// Inner loops of pooling for one instruction set. Plain images also use the column reductions of reduce/reduce_ops.h.
#pragma once

#include <cstdint>

namespace headway {

// Windows of neighbouring pixels that all have the same taps, in floats.
struct PoolSpan {
    const float* src;        // first tap of the first window
    int64_t src_step;        // from one window to the next
    int64_t rows, row_step;  // taps of a window
    int64_t cols, col_step;
    int64_t pixels, channels;
    float scale;  // of sums
    float* dst;   // pixels x channels
};

struct PoolOps {
    void (*span_max)(const PoolSpan& span);
    void (*span_sum)(const PoolSpan& span);
    // dst[i] = maximum, or sum, over t < taps of row[i * stride + t * dilation], i < n. NaN wins.
    void (*slide_max)(const float* row, int64_t taps, int64_t dilation, int64_t stride, int64_t n, float* dst);
    void (*slide_sum)(const float* row, int64_t taps, int64_t dilation, int64_t stride, int64_t n, float* dst);
};

namespace baseline {
const PoolOps& pool_ops();
}
namespace avx2 {
const PoolOps& pool_ops();
}
namespace avx512 {
const PoolOps& pool_ops();
}
namespace emulated512 {
const PoolOps& pool_ops();
}  // namespace emulated512

}  // namespace headway
