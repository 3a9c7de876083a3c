// Walking several arrays at once over one shape, each with strides of its own (0 where it broadcasts, negative where it
// runs backwards): the loop under elementwise operators, reductions and data movement.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tensor/shape.h"
#include "tensor/strings.h"
#include "tensor/tensor.h"

namespace headway {

using Strides = std::vector<int64_t>;

// Strides of a tensor of shape `from` seen under shape `to` by ONNX broadcasting.
Strides broadcast_strides(const Shape& from, const Shape& to);

template <size_t N>
struct StridedLoop {
    std::vector<int64_t> dims;
    std::array<Strides, N> strides;

    StridedLoop(const Shape& shape, const std::array<Strides, N>& all) {
        for (size_t axis = 0; axis < shape.rank(); ++axis) append(shape[axis], all, axis);
        if (dims.empty()) {
            dims.push_back(1);
            for (Strides& each : strides) each.push_back(0);
        }
    }

    // row(offsets, count, steps) for each innermost run, in row-major order.
    template <class F>
    void for_each_row(F&& row) const {
        for (int64_t dim : dims)
            if (dim == 0) return;
        std::array<int64_t, N> offsets{};
        std::array<int64_t, N> steps{};
        for (size_t k = 0; k < N; ++k) steps[k] = strides[k].back();
        std::vector<int64_t> index(dims.size(), 0);
        while (true) {
            row(offsets, dims.back(), steps);
            size_t axis = dims.size() - 1;
            while (axis > 0) {
                --axis;
                for (size_t k = 0; k < N; ++k) offsets[k] += strides[k][axis];
                if (++index[axis] < dims[axis]) break;
                for (size_t k = 0; k < N; ++k) offsets[k] -= strides[k][axis] * dims[axis];
                index[axis] = 0;
                if (axis == 0) return;
            }
            if (dims.size() == 1) return;
        }
    }

private:
    // Joins an axis to the one before where every array runs on through both.
    void append(int64_t dim, const std::array<Strides, N>& all, size_t axis) {
        if (dim == 1) return;
        bool joins = !dims.empty();
        for (size_t k = 0; k < N && joins; ++k) joins = strides[k].back() == all[k][axis] * dim;
        if (!joins) dims.push_back(1);
        dims.back() *= dim;
        for (size_t k = 0; k < N; ++k) {
            if (!joins) strides[k].push_back(0);
            strides[k].back() = all[k][axis];
        }
    }
};

// dst[dst_offset + i*dst_strides] = src[src_offset + i*src_strides] for every index i of `shape`; offsets and strides
// in elements. The caller has checked that all of it lies inside both tensors.
void strided_copy(const Tensor& src, int64_t src_offset, const Strides& src_strides, Tensor& dst, int64_t dst_offset,
                  const Strides& dst_strides, const Shape& shape);
void strided_copy(const Strings& src, int64_t src_offset, const Strides& src_strides, Strings& dst, int64_t dst_offset,
                  const Strides& dst_strides, const Shape& shape);

}  // namespace headway
