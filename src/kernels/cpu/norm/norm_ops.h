// Inner loops of Softmax and LayerNormalization for one instruction set.
#pragma once

#include <cstdint>

namespace headway {

// stored: exponentials are computed once and kept in dst until the sum is known. online: one pass finds maximum and sum
// together, a second one computes the exponentials again and divides.
enum class SoftmaxForm : uint8_t { stored, online, count };
// two_pass: mean first, then deviations from it. one_pass: sums of deviations from the first element and their squares.
enum class MomentsForm : uint8_t { two_pass, one_pass, count };

// Degree of the polynomial of exponentials.
enum class ExpDegree : uint8_t { six, four, count };

struct SoftmaxOps {
    // n >= 1 consecutive floats; dst may be src.
    using Row = void (*)(const float* src, float* dst, int64_t n, bool logarithm);
    Row row[static_cast<int>(SoftmaxForm::count)];
    // cols columns side by side, rows >= 1 of them `stride` apart; dst may be src.
    void (*columns)(const float* src, float* dst, int64_t rows, int64_t stride, int64_t cols, bool logarithm);
};

struct NormOps {
    SoftmaxOps softmax[static_cast<int>(ExpDegree::count)];
    // (x - mean) / sqrt(variance + epsilon) * scale + shift over n >= 1 floats; shift may be nullptr.
    void (*layer_norm_row[static_cast<int>(MomentsForm::count)])(const float* src, const float* scale,
                                                                 const float* shift, float* dst, int64_t n,
                                                                 float epsilon);
};

namespace baseline {
const NormOps& norm_ops();
}
namespace avx2 {
const NormOps& norm_ops();
}
namespace avx512 {
const NormOps& norm_ops();
}
namespace emulated512 {
const NormOps& norm_ops();
}  // namespace emulated512

}  // namespace headway
