// NumPy's .npy and .npz files, of which data sets are often made. Little-endian, C order, the element types that Tensor
// has; anything else is one clear UserError.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tensor/tensor.h"
#include "tensor/tensor_proto.h"

namespace headway {

// The content of an .npy file. A view on `bytes` (kept alive by `owner`) where the alignment allows.
Tensor read_npy(std::span<const std::byte> bytes, const std::shared_ptr<const void>& owner);
std::string write_npy(const Tensor& tensor);

// All arrays of an .npz archive (stored or deflated), in its order, named without ".npy". UserError naming the path.
std::vector<NamedTensor> read_npz(const std::string& path);
// Stored, not compressed.
std::string write_npz(std::span<const NamedTensor> tensors);

}  // namespace headway
