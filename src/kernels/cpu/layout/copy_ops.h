// The inner loops of data movement for one instruction set. Strides are in elements of `size` bytes (1, 2, 4 or 8).
#pragma once

#include <cstddef>
#include <cstdint>

namespace headway {

struct CopyOps {
    // dst[c * dst_stride + r] = src[r * src_stride + c], r < rows, c < cols; `block` columns at a time.
    void (*transpose)(const std::byte* src, int64_t src_stride, std::byte* dst, int64_t dst_stride, int64_t rows,
                      int64_t cols, size_t size, int64_t block);
    // dst[i] = src[i * src_stride]
    void (*gather)(const std::byte* src, int64_t src_stride, std::byte* dst, int64_t dst_stride, int64_t count,
                   size_t size);
};

namespace baseline {
const CopyOps& copy_ops();
}
namespace avx2 {
const CopyOps& copy_ops();
}

}  // namespace headway
