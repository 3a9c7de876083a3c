// What Concat and its kin on quantised tensors share.
#pragma once

#include <span>

#include "ops/op.h"

namespace headway {

// The joined shape by attribute axis; UserError when the shapes (at least one) cannot be joined.
Shape concat_shape(const Attributes& attributes, std::span<const Shape> shapes);

// Copies the inputs, whose shapes join to that of the output, behind each other.
void concatenate(const Attributes& attributes, std::span<const Tensor* const> inputs, Tensor& output);

}  // namespace headway
