// Inner loops of reductions for one instruction set.
#pragma once

#include <cstdint>

namespace headway {

enum class ReduceKind : uint8_t { sum, max, min, sum_abs, sum_square, count };

struct ReduceOps {
    // The reduction of n >= 1 consecutive floats.
    float (*run[static_cast<int>(ReduceKind::count)])(const float* src, int64_t n);
    // to[i] = the reduction of n >= 1 floats from src[i * n] on, i < runs: for runs shorter than a vector or two.
    void (*short_runs[static_cast<int>(ReduceKind::count)])(const float* src, int64_t n, int64_t runs, float* to);
    // to[j] = reduction over rows >= 1 of src[r * row_stride + j], j < cols; joined with what `to` holds unless
    // `fresh`.
    void (*columns[static_cast<int>(ReduceKind::count)])(const float* src, int64_t row_stride, int64_t rows,
                                                         int64_t cols, float* to, bool fresh);
};

namespace baseline {
const ReduceOps& reduce_ops();
}
namespace avx2 {
const ReduceOps& reduce_ops();
}
namespace avx512 {
const ReduceOps& reduce_ops();
}
namespace emulated512 {
const ReduceOps& reduce_ops();
}  // namespace emulated512

}  // namespace headway
