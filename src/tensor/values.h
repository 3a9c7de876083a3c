// A tensor of numbers or of strings, where it may be either.
#pragma once

#include <utility>
#include <variant>

#include "tensor/strings.h"
#include "tensor/tensor.h"

namespace headway {

using TensorValues = std::variant<Tensor, Strings>;

inline const Shape& shape_of(const Tensor& tensor) { return tensor.shape(); }
inline const Shape& shape_of(const Strings& strings) { return strings.shape; }
inline const Shape& shape_of(const TensorValues& values) {
    return std::visit([](const auto& each) -> const Shape& { return shape_of(each); }, values);
}
inline ElementType element_type(const TensorValues& values) {
    const auto* tensor = std::get_if<Tensor>(&values);
    return tensor == nullptr ? ElementType::string : tensor->type();
}

}  // namespace headway
