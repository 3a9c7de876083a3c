// Running translated step programs over a rectangle of a dst, in blocks that stay in the first-level cache.
#pragma once

#include <cstdint>

#include "kernels/cpu/pointwise/tile_code.h"

namespace headway {

inline constexpr int max_tile_operands = 48;

// A rectangle: pointers at its first element, and strides in floats.
struct TileRectangle {
    int64_t rows = 0, cols = 0;
    const float* anchor = nullptr;
    int64_t anchor_stride = 0;  // between rows
    const float* operands[max_tile_operands];
    int64_t row_strides[max_tile_operands];
    int64_t col_strides[max_tile_operands];  // 0 or 1
    float* dst[Program::max_registers];
    int64_t dst_stride = 0;  // between rows
};

// Elements of a block such that the code's buffers fit the stack arena.
int64_t tile_elements(int64_t wanted, const TileCode& code);

// Row by row, everything read and written where it lies. `code` takes operands without a column stride as scalars.
void run_long_rows(const TileCode& code, int64_t tile, const TileRectangle& area);

// Several rows in one block, for rows too short to be worth a pass each: what is not dense over such a block is
// gathered first. `code` takes operands that are constant over the whole rectangle as scalars.
void run_short_rows(const TileCode& code, int64_t tile, const TileRectangle& area);

}  // namespace headway
