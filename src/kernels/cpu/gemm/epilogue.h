// The epilogue of a producer whose dst is a matrix of rows x cols: a TileProgram applied in place to finished blocks.
#pragma once

#include <cstdint>

#include "kernels/cpu/pointwise/tile_program.h"
#include "kernels/kernel.h"

namespace headway {

// The same tensor called nhwc when its bytes are those of nhwc (already nhwc, or plain with one channel or one pixel).
bool has_nhwc_bytes(const TensorDesc& desc);
TensorDesc as_nhwc(TensorDesc desc);

class Epilogue {
public:
    // For a dst seen as nhwc (rows = pixels, cols = channels) or as plain with the last dimension as columns.
    enum class View { pixels, last_dim };
    static Verdict supports(const Problem& problem, View view);
    Epilogue(const Problem& problem, View view, Isa isa);

    bool empty() const { return program_.empty(); }
    // Rewrites rows [row, row + rows) x cols [col, col + cols) of dst, which hold the anchor's results.
    void apply(const std::byte* const* operands, float* dst, int64_t row, int64_t rows, int64_t col,
               int64_t cols) const;

private:
    bool flat_ = false;  // one column: rows are walked as the columns of a single row
    TileProgram program_;
};

}  // namespace headway
