// Tensors as slices of a larger one along an axis of its own: what loops, scans and sequences take apart and join.
#pragma once

#include <span>

#include "tensor/tensor.h"

namespace headway {

// Slice `index` of an axis, without that axis. Both lie inside the tensor.
Tensor slice_of(const Tensor& tensor, size_t axis, int64_t index);

// The tensors, of which there is at least one, along a new axis in [0, rank]. UserError naming `what` when their types
// or shapes differ.
Tensor stacked(std::span<const Tensor> tensors, size_t axis, const char* what);

}  // namespace headway
