// Inner loops of pooling (see pool_ops.h). Included once by each of pool_ops_<isa>.cpp.
#pragma once

#include "kernels/cpu/pool/pool_ops.h"
#include "kernels/cpu/simd.h"

namespace headway::HEADWAY_ISA {
namespace {

struct JoinMax {
    HEADWAY_INLINE vf join(vf a, vf b) { return max_nan(a, b); }
    HEADWAY_INLINE float join_floats(float a, float b) { return a != a || a > b ? a : b; }
};
struct JoinSum {
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

}  // namespace

const PoolOps& pool_ops() {
    static constexpr PoolOps ops{slide<JoinMax>, slide<JoinSum>};
    return ops;
}

}  // namespace headway::HEADWAY_ISA
