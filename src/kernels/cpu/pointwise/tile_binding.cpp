#include "kernels/cpu/pointwise/tile_binding.h"

#include <algorithm>

#include "base/checked.h"
#include "kernels/cpu/layout/physical.h"

namespace headway {
namespace {

Verdict layout_refusal(const TensorDesc& operand, const TensorDesc& dst) {
    return Verdict::no(Reason::layout, "operand " + operand.shape.text() + " " +
                                           std::string(to_string(operand.layout)) + " for dst " + dst.shape.text() +
                                           " " + std::string(to_string(dst.layout)));
}

// Strides of an operand over the dst's physical dimensions, 0 where it is broadcast.
Verdict operand_strides(const TensorDesc& operand, const TensorDesc& dst, const std::vector<PhysicalDim>& dims,
                        std::vector<int64_t>& result) {
    if (operand.type != ElementType::f32)
        return Verdict::no(Reason::element_type, std::string(to_string(operand.type)));
    const size_t rank = dst.shape.rank();
    const size_t missing = rank - std::min(rank, operand.shape.rank());
    if (operand.shape.rank() > rank)
        return Verdict::no(Reason::shape, "operand " + operand.shape.text() + " has a higher rank than dst");
    if (operand.layout != Layout::plain && missing != 0) return layout_refusal(operand, dst);
    for (size_t axis = missing; axis < rank; ++axis)
        if (operand.shape[axis - missing] != dst.shape[axis] && operand.shape[axis - missing] != 1)
            return Verdict::no(Reason::shape,
                               "operand " + operand.shape.text() + " does not broadcast to " + dst.shape.text());
    const AxisStrides strides = axis_strides(operand);
    const int64_t dst_block = channel_block(dst.layout);
    for (const PhysicalDim& dim : dims) {
        int64_t stride = 0;
        const bool varies = dim.axis >= missing && operand.shape[dim.axis - missing] != 1;
        if (varies) {
            stride = strides.axis[dim.axis - missing];
            const bool blocked_channel = channel_block(operand.layout) > 1 && dim.axis == 1;
            if (blocked_channel && channel_block(operand.layout) != dst_block) return layout_refusal(operand, dst);
            if (dim.part == PhysicalDim::Part::block)
                stride = blocked_channel ? strides.block_stride : stride * dst_block;
        }
        result.push_back(dim.extent == 1 ? 0 : stride);
    }
    return Verdict::yes();
}

// Stride over dims [first, end) seen as one, or -1 when they are not evenly spaced.
int64_t merged_stride(const std::vector<int64_t>& strides, const std::vector<PhysicalDim>& dims, size_t first) {
    int64_t inner_extent = 1;
    int64_t inner_stride = 0;
    for (size_t i = dims.size(); i-- > first;) {
        if (dims[i].extent == 1) continue;
        if (inner_extent == 1)
            inner_stride = strides[i];
        else if (strides[i] != inner_stride * inner_extent)
            return -1;
        inner_extent *= dims[i].extent;
    }
    return inner_stride;
}

size_t first_col_dim(const TensorDesc& dst, size_t dims, int inner_dims) {
    const size_t inner = dst.layout == Layout::plain ? static_cast<size_t>(std::max(inner_dims, 0)) : 1;
    return dims - std::min(dims, inner);
}

// Appends the rows' dimensions, merging neighbours over which every operand is evenly spaced.
void merge_rows(const std::vector<PhysicalDim>& dims, size_t row_dims, const std::vector<std::vector<int64_t>>& strides,
                TileBinding& binding) {
    for (size_t i = 0; i < row_dims; ++i) {
        const int64_t extent = dims[i].extent;
        if (extent == 1) continue;
        bool mergeable = !binding.row_extents.empty();
        for (size_t k = 0; mergeable && k < strides.size(); ++k)
            mergeable = binding.operands[k].row_strides.back() == strides[k][i] * extent;
        if (!mergeable)
            binding.row_extents.push_back(extent);
        else
            binding.row_extents.back() *= extent;
        for (size_t k = 0; k < strides.size(); ++k) {
            std::vector<int64_t>& rows = binding.operands[k].row_strides;
            if (mergeable)
                rows.back() = strides[k][i];
            else
                rows.push_back(strides[k][i]);
        }
    }
    if (binding.row_extents.empty()) {
        binding.row_extents.push_back(1);
        for (TileBinding::Operand& operand : binding.operands) operand.row_strides.push_back(0);
    }
    if (binding.cols != 1) return;
    for (TileBinding::Operand& operand : binding.operands) operand.col_stride = operand.row_strides.back() == 1 ? 1 : 0;
}

}  // namespace

bool TileBinding::flat() const {
    if (row_extents.size() != 1 || tail_cols != 0) return false;
    return std::all_of(operands.begin(), operands.end(), [&](const Operand& operand) {
        return rows == 1 || operand.row_strides[0] == operand.col_stride * cols;
    });
}

Verdict TileBinding::make(const TensorDesc& dst, const std::vector<TensorDesc>& operands, int inner_dims,
                          TileBinding& binding) {
    if (dst.type != ElementType::f32) return Verdict::no(Reason::element_type, std::string(to_string(dst.type)));
    if (dst.layout != Layout::plain && dst.shape.rank() < 3)
        return Verdict::no(Reason::layout,
                           std::string(to_string(dst.layout)) + " of rank " + std::to_string(dst.shape.rank()));
    binding = {};
    const std::vector<PhysicalDim> dims = physical_dims(dst);
    const size_t row_dims = first_col_dim(dst, dims.size(), inner_dims);
    for (size_t i = 0; i < dims.size(); ++i) (i < row_dims ? binding.rows : binding.cols) *= dims[i].extent;
    std::vector<std::vector<int64_t>> strides(operands.size());
    for (size_t k = 0; k < operands.size(); ++k) {
        if (Verdict verdict = operand_strides(operands[k], dst, dims, strides[k]); !verdict) return verdict;
        const int64_t col_stride = merged_stride(strides[k], dims, row_dims);
        if (col_stride != 0 && col_stride != 1)
            return Verdict::no(Reason::layout,
                               "operand " + operands[k].shape.text() + " is not contiguous over the columns");
        binding.operands.push_back({col_stride, {}});
    }
    merge_rows(dims, row_dims, strides, binding);
    const int64_t block = channel_block(dst.layout);
    if (block > 1 && dst.shape[1] % block != 0) {
        binding.tail_cols = dst.shape[1] % block;
        binding.channel_blocks = ceil_div(dst.shape[1], block);
        binding.channel_rows = dst.shape.elements(2, dst.shape.rank());
    }
    return Verdict::yes();
}

}  // namespace headway
