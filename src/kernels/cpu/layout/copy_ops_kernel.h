// Inner loops of data movement (see copy_ops.h). Included once by each of copy_ops_<isa>.cpp.
#pragma once

#include "kernels/cpu/layout/copy_ops.h"
#include "kernels/cpu/simd.h"

namespace headway::HEADWAY_ISA {
namespace {

template <class T>
HEADWAY_INLINE void transpose_plain(const T* src, int64_t src_stride, T* dst, int64_t dst_stride, int64_t rows,
                                    int64_t cols) {
    for (int64_t c = 0; c < cols; ++c)
        for (int64_t r = 0; r < rows; ++r) dst[c * dst_stride + r] = src[r * src_stride + c];
}

// Few rows that interleave into a dense dst, or a dense src that is dealt out to few columns: with the count known to
// the compiler these become shuffles.
template <class T, int n>
void interleave(const T* src, int64_t src_stride, T* dst, int64_t cols) {
    for (int64_t c = 0; c < cols; ++c)
        for (int r = 0; r < n; ++r) dst[c * n + r] = src[r * src_stride + c];
}
template <class T, int n>
void deal_out(const T* src, T* dst, int64_t dst_stride, int64_t rows) {
    for (int c = 0; c < n; ++c)
        for (int64_t r = 0; r < rows; ++r) dst[c * dst_stride + r] = src[r * n + c];
}

template <class T>
bool transpose_few(const T* src, int64_t src_stride, T* dst, int64_t dst_stride, int64_t rows, int64_t cols) {
    if (dst_stride == rows && cols >= 8) {
        if (rows == 2) return interleave<T, 2>(src, src_stride, dst, cols), true;
        if (rows == 3) return interleave<T, 3>(src, src_stride, dst, cols), true;
        if (rows == 4) return interleave<T, 4>(src, src_stride, dst, cols), true;
    }
    if (src_stride == cols && rows >= 8) {
        if (cols == 2) return deal_out<T, 2>(src, dst, dst_stride, rows), true;
        if (cols == 3) return deal_out<T, 3>(src, dst, dst_stride, rows), true;
        if (cols == 4) return deal_out<T, 4>(src, dst, dst_stride, rows), true;
    }
    return false;
}

#if defined(HEADWAY_ISA_AVX2)
constexpr int64_t square = 8;
HEADWAY_INLINE void transpose_square(const float* src, int64_t src_stride, float* dst, int64_t dst_stride) {
    __m256 row[8];
    for (int i = 0; i < 8; ++i) row[i] = _mm256_loadu_ps(src + i * src_stride);
    __m256 pair[8];
    for (int i = 0; i < 4; ++i) {
        pair[2 * i] = _mm256_unpacklo_ps(row[2 * i], row[2 * i + 1]);
        pair[2 * i + 1] = _mm256_unpackhi_ps(row[2 * i], row[2 * i + 1]);
    }
    __m256 quad[8];
    for (int i = 0; i < 2; ++i) {
        quad[4 * i] = _mm256_shuffle_ps(pair[4 * i], pair[4 * i + 2], 0x44);
        quad[4 * i + 1] = _mm256_shuffle_ps(pair[4 * i], pair[4 * i + 2], 0xEE);
        quad[4 * i + 2] = _mm256_shuffle_ps(pair[4 * i + 1], pair[4 * i + 3], 0x44);
        quad[4 * i + 3] = _mm256_shuffle_ps(pair[4 * i + 1], pair[4 * i + 3], 0xEE);
    }
    for (int i = 0; i < 4; ++i) {
        _mm256_storeu_ps(dst + i * dst_stride, _mm256_permute2f128_ps(quad[i], quad[4 + i], 0x20));
        _mm256_storeu_ps(dst + (4 + i) * dst_stride, _mm256_permute2f128_ps(quad[i], quad[4 + i], 0x31));
    }
}
#else
constexpr int64_t square = 4;
HEADWAY_INLINE void transpose_square(const float* src, int64_t src_stride, float* dst, int64_t dst_stride) {
    __m128 a = _mm_loadu_ps(src), b = _mm_loadu_ps(src + src_stride);
    __m128 c = _mm_loadu_ps(src + 2 * src_stride), d = _mm_loadu_ps(src + 3 * src_stride);
    _MM_TRANSPOSE4_PS(a, b, c, d);
    _mm_storeu_ps(dst, a);
    _mm_storeu_ps(dst + dst_stride, b);
    _mm_storeu_ps(dst + 2 * dst_stride, c);
    _mm_storeu_ps(dst + 3 * dst_stride, d);
}
#endif

void transpose_floats(const float* src, int64_t src_stride, float* dst, int64_t dst_stride, int64_t rows, int64_t cols,
                      int64_t block) {
    const int64_t full_rows = rows / square * square;
    const int64_t full_cols = cols / square * square;
    for (int64_t first = 0; first < full_cols; first += block) {
        const int64_t last = first + block < full_cols ? first + block : full_cols;
        for (int64_t r = 0; r < full_rows; r += square)
            for (int64_t c = first; c < last; c += square)
                transpose_square(src + r * src_stride + c, src_stride, dst + c * dst_stride + r, dst_stride);
        transpose_plain(src + full_rows * src_stride + first, src_stride, dst + first * dst_stride + full_rows,
                        dst_stride, rows - full_rows, last - first);
    }
    transpose_plain(src + full_cols, src_stride, dst + full_cols * dst_stride, dst_stride, rows, cols - full_cols);
}

template <class T>
void transpose_any(const T* src, int64_t src_stride, T* dst, int64_t dst_stride, int64_t rows, int64_t cols) {
    constexpr int64_t tile = 16;
    for (int64_t c = 0; c < cols; c += tile)
        for (int64_t r = 0; r < rows; r += tile)
            transpose_plain(src + r * src_stride + c, src_stride, dst + c * dst_stride + r, dst_stride,
                            rows - r < tile ? rows - r : tile, cols - c < tile ? cols - c : tile);
}

template <class T>
void transpose_as(const std::byte* src, int64_t src_stride, std::byte* dst, int64_t dst_stride, int64_t rows,
                  int64_t cols) {
    const auto* from = reinterpret_cast<const T*>(src);
    auto* to = reinterpret_cast<T*>(dst);
    if (!transpose_few(from, src_stride, to, dst_stride, rows, cols))
        transpose_any(from, src_stride, to, dst_stride, rows, cols);
}

void transpose(const std::byte* src, int64_t src_stride, std::byte* dst, int64_t dst_stride, int64_t rows, int64_t cols,
               size_t size, int64_t block) {
    if (size == 1) return transpose_as<uint8_t>(src, src_stride, dst, dst_stride, rows, cols);
    if (size == 2) return transpose_as<uint16_t>(src, src_stride, dst, dst_stride, rows, cols);
    if (size == 8) return transpose_as<uint64_t>(src, src_stride, dst, dst_stride, rows, cols);
    const auto* from = reinterpret_cast<const float*>(src);
    auto* to = reinterpret_cast<float*>(dst);
    if (!transpose_few(from, src_stride, to, dst_stride, rows, cols))
        transpose_floats(from, src_stride, to, dst_stride, rows, cols, block);
}

template <class T>
void gather_as(const std::byte* src, int64_t src_stride, std::byte* dst, int64_t dst_stride, int64_t count) {
    const auto* from = reinterpret_cast<const T*>(src);
    auto* to = reinterpret_cast<T*>(dst);
    if (dst_stride == 1 && src_stride == 0) {
        const T value = *from;
        for (int64_t i = 0; i < count; ++i) to[i] = value;
    } else if (dst_stride == 1) {
        for (int64_t i = 0; i < count; ++i) to[i] = from[i * src_stride];
    } else {
        for (int64_t i = 0; i < count; ++i) to[i * dst_stride] = from[i * src_stride];
    }
}

void gather(const std::byte* src, int64_t src_stride, std::byte* dst, int64_t dst_stride, int64_t count, size_t size) {
    if (size == 1) return gather_as<uint8_t>(src, src_stride, dst, dst_stride, count);
    if (size == 2) return gather_as<uint16_t>(src, src_stride, dst, dst_stride, count);
    if (size == 4) return gather_as<uint32_t>(src, src_stride, dst, dst_stride, count);
    gather_as<uint64_t>(src, src_stride, dst, dst_stride, count);
}

}  // namespace

const CopyOps& copy_ops() {
    static constexpr CopyOps ops{transpose, gather};
    return ops;
}

}  // namespace headway::HEADWAY_ISA
