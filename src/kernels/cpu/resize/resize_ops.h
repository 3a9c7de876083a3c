// Inner loops of resizing for one instruction set.
#pragma once

#include <cstdint>

namespace headway {

struct ResizeOps {
    // dst[i] = src[index[i]]
    void (*pick)(const float* src, const int32_t* index, int64_t n, float* dst);
    // dst[i] = src[i / times], n floats in all
    void (*repeat)(const float* src, int64_t times, int64_t n, float* dst);
    // dst[i] = a[i] * (1 - weight) + b[i] * weight
    void (*blend)(const float* a, const float* b, float weight, int64_t n, float* dst);
    // dst[i] = src[left[i]] * (1 - weight[i]) + src[right[i]] * weight[i]
    void (*blend_picked)(const float* src, const int32_t* left, const int32_t* right, const float* weight, int64_t n,
                         float* dst);
};

namespace baseline {
const ResizeOps& resize_ops();
}
namespace avx2 {
const ResizeOps& resize_ops();
}
namespace avx512 {
const ResizeOps& resize_ops();
}
namespace emulated512 {
const ResizeOps& resize_ops();
}  // namespace emulated512

}  // namespace headway
