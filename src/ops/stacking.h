// Tensors as parts of a larger one along an axis: what loops, scans and sequences take apart and join.
#pragma once

#include <span>

#include "tensor/values.h"

namespace headway {

// Slice `index` of an axis, without that axis. Both lie inside the tensor.
TensorValues slice_of(const TensorValues& whole, size_t axis, int64_t index);

// Elements [start, start + length) of an axis, which lie inside the tensor.
TensorValues part_of(const TensorValues& whole, size_t axis, int64_t start, int64_t length);

// The tensors, of which there is at least one, along a new axis in [0, rank]. UserError naming `what` when their types
// or shapes differ.
TensorValues stacked(std::span<const TensorValues> tensors, size_t axis, const char* what);

// The tensors, of which there is at least one, one after the other along an axis. UserError naming `what` when their
// types, ranks or other extents differ.
TensorValues concatenated(std::span<const TensorValues> tensors, size_t axis, const char* what);

}  // namespace headway
