// How the operands of a step program lie relative to the rows x cols of a dst (see tile_program.h): for each operand
// one stride over the cols and one for each merged dimension of the rows.
#pragma once

#include <cstdint>
#include <vector>

#include "base/verdict.h"
#include "tensor/layout.h"

namespace headway {

struct TileBinding {
    struct Operand {
        int64_t col_stride = 0;            // 0 or 1, in elements
        std::vector<int64_t> row_strides;  // one for each of row_extents
    };

    int64_t rows = 1;
    int64_t cols = 1;
    std::vector<int64_t> row_extents;  // outermost first, never empty; their product is rows
    std::vector<Operand> operands;
    // Blocked layouts with channels that do not fill the last block: rows of that block hold tail_cols channels, the
    // others are padding, which stays zero. channel_rows = rows of one block in one image.
    int64_t tail_cols = 0;  // 0 = no padding
    int64_t channel_rows = 1;
    int64_t channel_blocks = 1;

    // Every operand is constant everywhere or lies as the dst does: rows and cols can be seen as one long row.
    bool flat() const;

    static Verdict make(const TensorDesc& dst, const std::vector<TensorDesc>& operands, int inner_dims,
                        TileBinding& binding);
};

}  // namespace headway
