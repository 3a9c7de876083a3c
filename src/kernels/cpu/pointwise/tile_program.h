// A step program bound to the physical form of a dst: applied by producers to tiles that are still in cache (epilogue)
// and by the Pointwise kernel to whole tensors.
//
// The physical dst is seen as rows x cols of consecutive floats: cols are the innermost extents (C for nhwc; 8 or 16
// for the blocked layouts; for plain, the product of the last `inner_dims` extents), rows all the others merged.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/verdict.h"
#include "kernels/cpu/pointwise/tile_ops.h"
#include "kernels/kernel.h"

namespace headway {

struct TileOptions {
    int64_t tile = 1024;  // elements that a pass of the interpreter covers
    ExpKind exp = ExpKind::poly6;
};

inline constexpr size_t max_tile_instructions = 256;

class TileProgram {
public:
    // Whether every operand can be read over such tiles: operands are f32 in the dst's layout when they have its full
    // shape, or broadcast (any layout in which the broadcast shape means the same bytes, e.g. [C], [1,C,1,1], scalars);
    // over the cols an operand is either constant or contiguous.
    static Verdict supports(const Program& program, const TensorDesc& dst, const std::vector<TensorDesc>& operands,
                            int inner_dims);
    TileProgram(const Program& program, const TensorDesc& dst, const std::vector<TensorDesc>& operands, int inner_dims,
                Isa isa, const TileOptions& options = {});
    // With the micro-operations of a given instruction set, emulated ones included.
    TileProgram(const Program& program, const TensorDesc& dst, const std::vector<TensorDesc>& operands, int inner_dims,
                const TileOps& ops, const TileOptions& options = {});
    ~TileProgram();
    TileProgram(TileProgram&&) noexcept;
    TileProgram& operator=(TileProgram&&) noexcept;

    int64_t rows() const;
    int64_t cols() const;
    bool empty() const;  // no instructions: callers store their results directly

    // Computes rows [row, row+row_count) x cols [col, col+col_count). The anchor's values (register 0) are read from
    // `anchor` (may be nullptr when there is no anchor) with `anchor_stride` floats between rows; results are written
    // to dst[k] + row*cols + col and on, which may be where the anchor's values lie. `operands` as in Args.
    void apply(const std::byte* const* operands, const float* anchor, int64_t anchor_stride, int64_t row,
               int64_t row_count, int64_t col, int64_t col_count, float* const* dst) const;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace headway
