#include "kernels/cpu/gemm/epilogue.h"

namespace headway {

bool has_nhwc_bytes(const TensorDesc& desc) {
    if (desc.shape.rank() < 3) return false;
    if (desc.layout == Layout::nhwc) return true;
    return desc.layout == Layout::plain && (desc.shape[1] == 1 || desc.shape.elements(2, desc.shape.rank()) == 1);
}

TensorDesc as_nhwc(TensorDesc desc) {
    if (has_nhwc_bytes(desc)) desc.layout = Layout::nhwc;
    return desc;
}

namespace {

// Whether the matrix has a single column, and the program can be read with all rows as the columns of one row instead.
struct Seen {
    TensorDesc dst;
    std::vector<TensorDesc> operands;
    int inner_dims;
    bool flat;
};

Seen seen_as(const Problem& problem, Epilogue::View view) {
    Seen seen{problem.dst[0], problem.operands, 1, false};
    const int rank = static_cast<int>(seen.dst.shape.rank());
    const bool pixels = view == Epilogue::View::pixels;
    const int64_t columns = rank == 0 ? 1 : pixels ? seen.dst.shape[1] : seen.dst.shape.back();
    if (columns == 1 && rank > 0) {
        Seen flat = seen;
        flat.dst.layout = Layout::plain;
        for (TensorDesc& operand : flat.operands)
            if (pixels && operand.shape == flat.dst.shape && has_nhwc_bytes(operand)) operand.layout = Layout::plain;
        flat.inner_dims = rank;
        flat.flat = true;
        if (TileProgram::supports(problem.epilogue, flat.dst, flat.operands, flat.inner_dims)) return flat;
    }
    if (pixels) {
        seen.dst = as_nhwc(seen.dst);
        for (TensorDesc& operand : seen.operands)
            if (operand.shape == seen.dst.shape) operand = as_nhwc(operand);
    }
    return seen;
}

TileProgram bind(const Problem& problem, const Seen& seen, Isa isa) {
    return TileProgram(problem.epilogue, seen.dst, seen.operands, seen.inner_dims, isa);
}

}  // namespace

Verdict Epilogue::supports(const Problem& problem, View view) {
    if (problem.epilogue.empty()) return Verdict::yes();
    const Seen seen = seen_as(problem, view);
    return TileProgram::supports(problem.epilogue, seen.dst, seen.operands, seen.inner_dims);
}

Epilogue::Epilogue(const Problem& problem, View view, Isa isa)
    : flat_(seen_as(problem, view).flat), program_(bind(problem, seen_as(problem, view), isa)) {}

void Epilogue::apply(const std::byte* const* operands, float* dst, int64_t row, int64_t rows, int64_t col,
                     int64_t cols) const {
    if (program_.empty() || rows == 0 || cols == 0) return;
    if (flat_) {
        program_.apply(operands, dst + row, rows, 0, 1, row, rows, &dst);
        return;
    }
    const int64_t width = program_.cols();
    program_.apply(operands, dst + row * width + col, width, row, rows, col, cols, &dst);
}

}  // namespace headway
