// Whole tensors as doubles: what the references of arithmetic on windows, matrices and rows compute with.
#pragma once

#include <cstdint>
#include <vector>

#include "tensor/tensor.h"

namespace headway {

// What a reference keeps beside its tensors: a file of few bytes may ask for any amount of it, as two axes of an input
// without elements do. UserError when it passes the memory limit, before anything is allocated.
std::vector<double> zeros(int64_t count);

std::vector<double> doubles_of(const Tensor& tensor);
// Rounds to the tensor's type; integers saturate and truncate. As many values as the tensor has elements.
void store_doubles(const std::vector<double>& values, Tensor& tensor);

}  // namespace headway
