#include "kernels/cpu/layout/strided_copy.h"

#include <algorithm>
#include <cstring>

#include "base/checked.h"
#include "base/error.h"

namespace headway {
namespace {

void copy_run(const std::byte* src, std::byte* dst, size_t bytes) {
    switch (bytes) {
        case 4:
            std::memcpy(dst, src, 4);
            return;
        case 8:
            std::memcpy(dst, src, 8);
            return;
        case 16:
            std::memcpy(dst, src, 16);
            return;
        case 32:
            std::memcpy(dst, src, 32);
            return;
        case 64:
            std::memcpy(dst, src, 64);
            return;
        default:
            std::memcpy(dst, src, bytes);
    }
}

template <size_t bytes>
void copy_short_rows(const std::byte* src, int64_t src_step, std::byte* dst, int64_t dst_step, int64_t count) {
    for (int64_t i = 0; i < count; ++i) std::memcpy(dst + i * dst_step, src + i * src_step, bytes);
}

// Rows of equal length in bytes, steps in bytes.
void copy_equal_rows(const std::byte* src, int64_t src_step, std::byte* dst, int64_t dst_step, int64_t count,
                     size_t bytes) {
    switch (bytes) {
        case 4:
            return copy_short_rows<4>(src, src_step, dst, dst_step, count);
        case 8:
            return copy_short_rows<8>(src, src_step, dst, dst_step, count);
        case 12:
            return copy_short_rows<12>(src, src_step, dst, dst_step, count);
        case 16:
            return copy_short_rows<16>(src, src_step, dst, dst_step, count);
        case 32:
            return copy_short_rows<32>(src, src_step, dst, dst_step, count);
        case 64:
            return copy_short_rows<64>(src, src_step, dst, dst_step, count);
        default:
            for (int64_t i = 0; i < count; ++i) copy_run(src + i * src_step, dst + i * dst_step, bytes);
    }
}

}  // namespace

StridedCopy::StridedCopy(std::vector<CopyDim> dims, int64_t src_offset, int64_t dst_offset, size_t element_size)
    : size_(element_size), src_offset_(src_offset), dst_offset_(dst_offset) {
    HEADWAY_CHECK(size_ == 1 || size_ == 2 || size_ == 4 || size_ == 8);
    merge(std::move(dims));
    HEADWAY_CHECK(outer_.size() <= max_dims);
    widen();
    choose_kind();
    cut(usual_tile_bytes);
}

// Leaves the dimensions in outer_, without extents of 1, neighbours merged where both views allow it; never empty.
void StridedCopy::merge(std::vector<CopyDim> dims) {
    for (const CopyDim& dim : dims) {
        if (dim.extent == 1) continue;
        if (!outer_.empty() && outer_.back().src_stride == dim.src_stride * dim.extent &&
            outer_.back().dst_stride == dim.dst_stride * dim.extent) {
            const int64_t extent = outer_.back().extent * dim.extent;
            outer_.back() = {extent, dim.src_stride, dim.dst_stride};
        } else {
            outer_.push_back(dim);
        }
    }
    if (outer_.empty()) outer_.push_back({1, 1, 1});
}

// A dense innermost run of 2, 4 or 8 bytes is one wider element when everything else is a multiple of it.
void StridedCopy::widen() {
    const CopyDim inner = outer_.back();
    const auto bytes = static_cast<size_t>(inner.extent) * size_;
    if (outer_.size() < 2 || inner.src_stride != 1 || inner.dst_stride != 1) return;
    if (inner.extent < 2 || (bytes != 2 && bytes != 4 && bytes != 8)) return;
    const auto fits = [&](int64_t value) { return value % inner.extent == 0; };
    if (!fits(src_offset_) || !fits(dst_offset_)) return;
    for (size_t i = 0; i + 1 < outer_.size(); ++i)
        if (!fits(outer_[i].src_stride) || !fits(outer_[i].dst_stride)) return;
    outer_.pop_back();
    for (CopyDim& dim : outer_) {
        dim.src_stride /= inner.extent;
        dim.dst_stride /= inner.extent;
    }
    src_offset_ /= inner.extent;
    dst_offset_ /= inner.extent;
    size_ = bytes;
}

void StridedCopy::choose_kind() {
    inner_ = outer_.back();
    outer_.pop_back();
    if (inner_.dst_stride != 1)
        kind_ = Kind::strided;
    else if (inner_.src_stride == 1 || inner_.src_stride == 0)
        kind_ = inner_.src_stride == 1 ? Kind::rows : Kind::strided;
    else {
        const auto dense =
            std::find_if(outer_.begin(), outer_.end(), [](const CopyDim& dim) { return dim.src_stride == 1; });
        kind_ = dense == outer_.end() ? Kind::strided : Kind::transposed;
        if (kind_ == Kind::transposed) {
            across_ = *dense;
            outer_.erase(dense);
        }
    }
    if (kind_ == Kind::rows) walk_longest();
    for (const CopyDim& dim : outer_) rows_ *= dim.extent;
}

// Short rows go together along the longest dimension, not in turns of a few: whole cache lines are as good to write
// apart (twice as fast from channels in blocks to nhwc with 32 channels, on Zen 5).
void StridedCopy::walk_longest() {
    constexpr int64_t cache_line = 64, short_row = 256, few = 16;
    const int64_t bytes = inner_.extent * static_cast<int64_t>(size_);
    if (outer_.size() < 2 || bytes % cache_line != 0 || bytes > short_row || outer_.back().extent >= few) return;
    const auto longest = std::max_element(outer_.begin(), outer_.end(),
                                          [](const CopyDim& a, const CopyDim& b) { return a.extent < b.extent; });
    std::swap(*longest, outer_.back());
}

void StridedCopy::cut(int64_t tile_bytes) {
    const int64_t split_extent = kind_ == Kind::transposed ? across_.extent : inner_.extent;
    const int64_t unit_bytes = static_cast<int64_t>(size_) * (kind_ == Kind::transposed ? inner_.extent : 1);
    if (rows_ == 0 || split_extent == 0 || inner_.extent == 0) {
        row_groups_ = 0;
        return;
    }
    // Whole cache lines where the src is dense along the split.
    chunk_ = std::min(split_extent, std::max<int64_t>(64, round_up(tile_bytes / unit_bytes, 64)));
    chunks_ = ceil_div(split_extent, chunk_);
    rows_per_tile_ = std::max<int64_t>(1, tile_bytes / (chunk_ * unit_bytes));
    row_groups_ = ceil_div(rows_, rows_per_tile_);
}

std::optional<StridedCopy::Run> StridedCopy::as_run() const {
    if (kind_ != Kind::rows || !outer_.empty()) return std::nullopt;
    const auto size = static_cast<int64_t>(size_);
    return Run{src_offset_ * size, dst_offset_ * size, inner_.extent * size};
}

// One row, or one rectangle of a transpose; positions first..last of the dimension that is split.
void StridedCopy::copy_one(const std::byte* src, std::byte* dst, int64_t first, int64_t last, const CopyOps& ops,
                           int64_t transpose_block) const {
    const auto size = static_cast<int64_t>(size_);
    if (kind_ == Kind::transposed) {
        ops.transpose(src + first * size, inner_.src_stride, dst + first * across_.dst_stride * size,
                      across_.dst_stride, inner_.extent, last - first, size_, transpose_block);
    } else if (kind_ == Kind::strided) {
        ops.gather(src + first * inner_.src_stride * size, inner_.src_stride, dst + first * inner_.dst_stride * size,
                   inner_.dst_stride, last - first, size_);
    } else {
        copy_run(src + first * size, dst + first * size, static_cast<size_t>(last - first) * size_);
    }
}

// `count` rows from `row` on; those along the innermost row dimension go together.
void StridedCopy::copy_rows(const std::byte* src, std::byte* dst, int64_t row, int64_t count, int64_t first,
                            int64_t last, const CopyOps& ops, int64_t transpose_block) const {
    const auto size = static_cast<int64_t>(size_);
    while (count > 0) {
        int64_t from = src_offset_, to = dst_offset_, left = row;
        for (size_t dim = outer_.size(); dim-- > 0;) {
            from += left % outer_[dim].extent * outer_[dim].src_stride;
            to += left % outer_[dim].extent * outer_[dim].dst_stride;
            left /= outer_[dim].extent;
        }
        const CopyDim step = outer_.empty() ? CopyDim{1, 0, 0} : outer_.back();
        const int64_t together = std::min(count, step.extent - row % step.extent);
        const std::byte* src_row = src + from * size;
        std::byte* dst_row = dst + to * size;
        if (kind_ == Kind::rows && first == 0 && last == inner_.extent) {
            copy_equal_rows(src_row, step.src_stride * size, dst_row, step.dst_stride * size, together,
                            static_cast<size_t>(last) * size_);
        } else {
            for (int64_t i = 0; i < together; ++i)
                copy_one(src_row + i * step.src_stride * size, dst_row + i * step.dst_stride * size, first, last, ops,
                         transpose_block);
        }
        row += together;
        count -= together;
    }
}

void StridedCopy::run(const std::byte* src, std::byte* dst, int64_t begin, int64_t end, const CopyOps& ops,
                      int64_t transpose_block) const {
    const int64_t split_extent = kind_ == Kind::transposed ? across_.extent : inner_.extent;
    for (int64_t tile = begin; tile < end; ++tile) {
        const int64_t row = tile / chunks_ * rows_per_tile_;
        const int64_t first = tile % chunks_ * chunk_;
        copy_rows(src, dst, row, std::min(rows_per_tile_, rows_ - row), first, std::min(split_extent, first + chunk_),
                  ops, transpose_block);
    }
}

}  // namespace headway
