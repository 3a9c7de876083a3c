// Whole tensors as doubles: what the references of arithmetic on windows, matrices and rows compute with.
#pragma once

#include <vector>

#include "tensor/tensor.h"

namespace headway {

std::vector<double> doubles_of(const Tensor& tensor);
// Rounds to the tensor's type; integers saturate and truncate. As many values as the tensor has elements.
void store_doubles(const std::vector<double>& values, Tensor& tensor);

}  // namespace headway
