// Inner loops of pooling for one instruction set, besides the column reductions of reduce/reduce_ops.h.
#pragma once

#include <cstdint>

namespace headway {

struct PoolOps {
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
