// What a value can be while a graph is interpreted: a tensor of numbers or of strings, a sequence of tensors, or an
// optional without an element.
// An optional with an element is that element, so an operator on optionals needs no second form for plain values.
#pragma once

#include <memory>
#include <string_view>
#include <variant>
#include <vector>

#include "tensor/values.h"

namespace headway {

// Shapes may differ between the tensors, their type may not.
struct Sequence {
    ElementType type = ElementType::undefined;  // undefined: not known, of a sequence without tensors
    std::vector<TensorValues> tensors;
};

using Absent = std::monostate;
using Datum = std::variant<Absent, Tensor, Sequence, Strings>;

// "a tensor", "a sequence", "a tensor of strings", "an absent optional".
std::string_view kind_of(const Datum& datum);

Datum datum_of(TensorValues values);

// Adds a tensor before `position`, which lies in [0, tensors.size()]; UserError when its type is not the sequence's.
void insert_tensor(Sequence& sequence, size_t position, TensorValues tensor);

// ONNX's TensorProto, SequenceProto and OptionalProto, as test data hold them: UserError when the message is damaged,
// Unsupported for sequences of anything but tensors. Tensors are views on `message`, see read_tensor_proto.
Datum read_tensor_datum(std::string_view message, const std::shared_ptr<const void>& owner);
Sequence read_sequence_proto(std::string_view message, const std::shared_ptr<const void>& owner);
Datum read_optional_proto(std::string_view message, const std::shared_ptr<const void>& owner);

}  // namespace headway
