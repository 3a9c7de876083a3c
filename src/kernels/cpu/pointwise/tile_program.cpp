#include "kernels/cpu/pointwise/tile_program.h"

#include <algorithm>

#include "base/error.h"
#include "kernels/cpu/pointwise/tile_binding.h"
#include "kernels/cpu/pointwise/tile_runs.h"

namespace headway {

const TileOps& tile_ops_of(Isa isa) {
    switch (isa) {
        case Isa::baseline:
            return baseline::tile_ops();
        case Isa::avx2:
            return avx2::tile_ops();
        case Isa::avx512:
            return avx512::tile_ops();
    }
    return baseline::tile_ops();
}

struct TileProgram::Impl {
    Impl(const Program& program, const TensorDesc& dst, const std::vector<TensorDesc>& operands, int inner_dims,
         const TileOps& ops, const TileOptions& options);

    void apply(const std::byte* const* operands, const float* anchor, int64_t anchor_stride, int64_t row,
               int64_t row_count, int64_t col, int64_t col_count, float* const* dst) const;

    bool empty = false;
    size_t results = 0;
    TileBinding binding;
    TileCode long_code, short_code;
    int64_t long_tile = 0, short_tile = 0;
    bool flat = false;

private:
    void apply_channel_block(const std::byte* const* operands, const float* anchor, int64_t anchor_stride, int64_t row,
                             int64_t row_count, int64_t col, int64_t col_count, float* const* dst) const;
    void apply_rectangle(TileRectangle& area) const;
    void set_operands(TileRectangle& area, const std::byte* const* operands, int64_t row, int64_t col) const;
};

TileProgram::Impl::Impl(const Program& program, const TensorDesc& dst, const std::vector<TensorDesc>& operands,
                        int inner_dims, const TileOps& ops, const TileOptions& options)
    : empty(program.empty()), results(program.results.size()) {
    const Verdict verdict = TileProgram::supports(program, dst, operands, inner_dims);
    if (!verdict) throw InternalError("TileProgram: " + verdict.text());
    HEADWAY_CHECK(TileBinding::make(dst, operands, inner_dims, binding));
    std::vector<bool> long_scalars, short_scalars;
    for (const TileBinding::Operand& operand : binding.operands) {
        long_scalars.push_back(operand.col_stride == 0);
        short_scalars.push_back(operand.col_stride == 0 && operand.row_strides.back() == 0);
    }
    long_code = make_tile_code(program, long_scalars, ops, options.exp);
    short_code = make_tile_code(program, short_scalars, ops, options.exp);
    long_tile = tile_elements(options.tile, long_code);
    short_tile = tile_elements(options.tile, short_code);
    flat = binding.flat();
}

// Pointers at (row, col), and the strides over the innermost row dimension.
void TileProgram::Impl::set_operands(TileRectangle& area, const std::byte* const* operands, int64_t row,
                                     int64_t col) const {
    for (size_t k = 0; k < binding.operands.size(); ++k) {
        const TileBinding::Operand& operand = binding.operands[k];
        int64_t offset = col * operand.col_stride;
        int64_t left = row;
        for (size_t dim = binding.row_extents.size(); dim-- > 1;) {
            offset += left % binding.row_extents[dim] * operand.row_strides[dim];
            left /= binding.row_extents[dim];
        }
        offset += left * operand.row_strides[0];
        area.operands[k] = reinterpret_cast<const float*>(operands[k]) + offset;
        area.row_strides[k] = operand.row_strides.back();
        area.col_strides[k] = operand.col_stride;
    }
}

void TileProgram::Impl::apply_rectangle(TileRectangle& area) const {
    const bool dense = area.dst_stride == area.cols && (area.anchor == nullptr || area.anchor_stride == area.cols);
    if (flat && dense) {
        area.cols *= area.rows;
        area.rows = 1;
    }
    if (area.rows == 1 || area.cols * 2 > short_tile)
        run_long_rows(long_code, long_tile, area);
    else
        run_short_rows(short_code, short_tile, area);
}

// Rows whose channels, where the dst is blocked, are all real or all in the last block.
void TileProgram::Impl::apply_channel_block(const std::byte* const* operands, const float* anchor,
                                            int64_t anchor_stride, int64_t row, int64_t row_count, int64_t col,
                                            int64_t col_count, float* const* dst) const {
    const int64_t inner = binding.row_extents.back();
    for (int64_t done = 0; done < row_count;) {
        TileRectangle area;
        area.rows = std::min(row_count - done, inner - (row + done) % inner);
        area.cols = col_count;
        area.anchor = anchor == nullptr ? nullptr : anchor + done * anchor_stride;
        area.anchor_stride = anchor_stride;
        area.dst_stride = binding.cols;
        set_operands(area, operands, row + done, col);
        for (size_t i = 0; i < results; ++i) area.dst[i] = dst[i] + (row + done) * binding.cols + col;
        done += area.rows;
        apply_rectangle(area);
    }
}

void TileProgram::Impl::apply(const std::byte* const* operands, const float* anchor, int64_t anchor_stride, int64_t row,
                              int64_t row_count, int64_t col, int64_t col_count, float* const* dst) const {
    if (binding.tail_cols == 0) {
        apply_channel_block(operands, anchor, anchor_stride, row, row_count, col, col_count, dst);
        return;
    }
    for (int64_t done = 0; done < row_count;) {
        const int64_t first = row + done;
        const int64_t count = std::min(row_count - done, binding.channel_rows - first % binding.channel_rows);
        const bool last_block = first / binding.channel_rows % binding.channel_blocks == binding.channel_blocks - 1;
        const int64_t real = last_block ? std::clamp<int64_t>(binding.tail_cols - col, 0, col_count) : col_count;
        const float* from = anchor == nullptr ? nullptr : anchor + done * anchor_stride;
        if (real > 0) apply_channel_block(operands, from, anchor_stride, first, count, col, real, dst);
        for (size_t i = 0; i < results && real < col_count; ++i)
            for (int64_t r = first; r < first + count; ++r)
                std::fill_n(dst[i] + r * binding.cols + col + real, col_count - real, 0.0F);
        done += count;
    }
}

Verdict TileProgram::supports(const Program& program, const TensorDesc& dst, const std::vector<TensorDesc>& operands,
                              int inner_dims) {
    if (program.operands > static_cast<int>(operands.size()))
        return Verdict::no(Reason::epilogue, "program reads operand " + std::to_string(program.operands - 1) + " of " +
                                                 std::to_string(operands.size()));
    if (operands.size() > static_cast<size_t>(max_tile_operands))
        return Verdict::no(Reason::limit, std::to_string(operands.size()) + " operands");
    if (program.code.size() > max_tile_instructions)
        return Verdict::no(Reason::limit, std::to_string(program.code.size()) + " instructions");
    TileBinding binding;
    return TileBinding::make(dst, operands, inner_dims, binding);
}

TileProgram::TileProgram(const Program& program, const TensorDesc& dst, const std::vector<TensorDesc>& operands,
                         int inner_dims, Isa isa, const TileOptions& options)
    : TileProgram(program, dst, operands, inner_dims, tile_ops_of(isa), options) {}

TileProgram::TileProgram(const Program& program, const TensorDesc& dst, const std::vector<TensorDesc>& operands,
                         int inner_dims, const TileOps& ops, const TileOptions& options)
    : impl_(std::make_unique<Impl>(program, dst, operands, inner_dims, ops, options)) {}

TileProgram::~TileProgram() = default;
TileProgram::TileProgram(TileProgram&&) noexcept = default;
TileProgram& TileProgram::operator=(TileProgram&&) noexcept = default;

int64_t TileProgram::rows() const { return impl_->binding.rows; }
int64_t TileProgram::cols() const { return impl_->binding.cols; }
bool TileProgram::empty() const { return impl_->empty; }

void TileProgram::apply(const std::byte* const* operands, const float* anchor, int64_t anchor_stride, int64_t row,
                        int64_t row_count, int64_t col, int64_t col_count, float* const* dst) const {
    impl_->apply(operands, anchor, anchor_stride, row, row_count, col, col_count, dst);
}

}  // namespace headway
