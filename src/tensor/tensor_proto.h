// ONNX's TensorProto, both ways: initialisers and attributes of models, and the .pb files of test data.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "tensor/values.h"

namespace headway {

// Where a tensor's bytes lie that are not in the message itself.
class ExternalData {
public:
    struct Bytes {
        std::span<const std::byte> bytes;
        std::shared_ptr<const void> owner;
    };
    virtual ~ExternalData() = default;
    // `size` bytes at `offset` of the file `location`. UserError when it may not or cannot be read.
    virtual Bytes load(const std::string& location, int64_t offset, int64_t size) = 0;
};

struct NamedTensor {
    std::string name;
    Tensor tensor;
};

struct NamedValues {
    std::string name;
    TensorValues values;
};

// Only the name, for messages about a tensor whose values cannot be read.
std::string tensor_proto_name(std::string_view message);

// UserError when the message is damaged or its data do not fit its shape exactly; Unsupported for element types that
// are not handled. The tensor is a view on `message` (kept alive by `owner`) where the alignment allows, else a copy.
// Tensors with external data are refused without `external`.
NamedValues read_tensor_values_proto(std::string_view message, const std::shared_ptr<const void>& owner,
                                     ExternalData* external = nullptr);
// The same where only numbers are handled: Unsupported for strings.
NamedTensor read_tensor_proto(std::string_view message, const std::shared_ptr<const void>& owner,
                              ExternalData* external = nullptr);

std::string write_tensor_proto(const Tensor& tensor, std::string_view name);
std::string write_tensor_proto(const Strings& strings, std::string_view name);

}  // namespace headway
