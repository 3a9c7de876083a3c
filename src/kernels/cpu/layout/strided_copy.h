// Copies a box of elements between two strided views: the whole of data movement (transposes, layout changes, slices,
// broadcasts, concatenation) comes down to lists of these. Made once; run tile by tile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/cpu/layout/copy_ops.h"

namespace headway {

// One dimension of the box, strides in elements; a src stride of 0 repeats, a negative one reads backwards.
struct CopyDim {
    int64_t extent = 1;
    int64_t src_stride = 0;
    int64_t dst_stride = 0;
};

class StridedCopy {
public:
    // dims outermost first in the order of the dst. Element sizes 1, 2, 4, 8.
    StridedCopy(std::vector<CopyDim> dims, int64_t src_offset, int64_t dst_offset, size_t element_size);

    // Cuts the copy into tiles of about so many bytes; without it they are of usual_tile_bytes.
    void cut(int64_t tile_bytes);
    static constexpr int64_t usual_tile_bytes = 64 << 10;

    // All of the copy when it is one run of bytes on both sides.
    struct Run {
        int64_t src_at = 0, dst_at = 0, bytes = 0;
    };
    std::optional<Run> as_run() const;

    int64_t tiles() const { return row_groups_ * chunks_; }
    void run(const std::byte* src, std::byte* dst, int64_t begin, int64_t end, const CopyOps& ops,
             int64_t transpose_block) const;

    // Most dimensions that are left after merging.
    static constexpr size_t max_dims = 16;

private:
    enum class Kind { rows, strided, transposed };

    void merge(std::vector<CopyDim> dims);
    void widen();
    void choose_kind();
    void walk_longest();
    void copy_rows(const std::byte* src, std::byte* dst, int64_t row, int64_t count, int64_t first, int64_t last,
                   const CopyOps& ops, int64_t transpose_block) const;
    void copy_one(const std::byte* src, std::byte* dst, int64_t first, int64_t last, const CopyOps& ops,
                  int64_t transpose_block) const;

    size_t size_;
    int64_t src_offset_, dst_offset_;
    std::vector<CopyDim> outer_;  // rows: all dimensions but the inner ones
    CopyDim inner_;               // dst stride 1 except for Kind::strided
    CopyDim across_;              // Kind::transposed: the dimension along which src is dense
    Kind kind_ = Kind::rows;
    int64_t rows_ = 1;
    int64_t rows_per_tile_ = 1, row_groups_ = 1;
    int64_t chunk_ = 1, chunks_ = 1;  // over inner_, or across_ when transposed
};

}  // namespace headway
