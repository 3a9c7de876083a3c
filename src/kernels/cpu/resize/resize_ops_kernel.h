// Inner loops of resizing (see resize_ops.h). Included once by each of resize_ops_<isa>.cpp.
#pragma once

#include "kernels/cpu/resize/resize_ops.h"
#include "kernels/cpu/simd.h"

namespace headway::HEADWAY_ISA {
namespace {

void pick(const float* src, const int32_t* index, int64_t n, float* dst) {
    for (int64_t i = 0; i < n; ++i) dst[i] = src[index[i]];
}

template <int times>
HEADWAY_INLINE void repeat_by(const float* src, int64_t n, float* dst) {
    for (int64_t i = 0; i < n / times; ++i)
        for (int k = 0; k < times; ++k) dst[i * times + k] = src[i];
}

void repeat(const float* src, int64_t times, int64_t n, float* dst) {
    if (times == 2) return repeat_by<2>(src, n, dst);
    if (times == 4) return repeat_by<4>(src, n, dst);
    if (times == 8) return repeat_by<8>(src, n, dst);
    for (int64_t i = 0; i < n / times; ++i)
        for (int64_t k = 0; k < times; ++k) dst[i * times + k] = src[i];
}

void blend(const float* a, const float* b, float weight, int64_t n, float* dst) {
    const vf right = broadcast(weight);
    const vf left = broadcast(1.0F - weight);
    int64_t i = 0;
    for (; i + lanes <= n; i += lanes) store(dst + i, fma(load(b + i), right, load(a + i) * left));
    if (i == n) return;
    const int rest = static_cast<int>(n - i);
    store_first(dst + i, fma(load_first(b + i, rest), right, load_first(a + i, rest) * left), rest);
}

void blend_picked(const float* src, const int32_t* left, const int32_t* right, const float* weight, int64_t n,
                  float* dst) {
    for (int64_t i = 0; i < n; ++i) dst[i] = src[left[i]] * (1.0F - weight[i]) + src[right[i]] * weight[i];
}

}  // namespace

const ResizeOps& resize_ops() {
    static constexpr ResizeOps ops{pick, repeat, blend, blend_picked};
    return ops;
}

}  // namespace headway::HEADWAY_ISA
