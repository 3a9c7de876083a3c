// Elementwise loops on element types other than f32 arithmetic: comparisons, logic, selection and casts, for one
// instruction set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tensor/element_type.h"

namespace headway {

// n elements; strides of the inputs in elements (0 repeats one element), the dst is dense.
using TypedLoop = void (*)(const std::byte* const* src, const int64_t* strides, std::byte* dst, int64_t n);

struct TypedOps {
    // All return nullptr for what they have no loop for.
    TypedLoop (*compare)(std::string_view op, ElementType type);  // Equal, Less..., And, Or, Xor: two inputs to bool
    TypedLoop (*test)(std::string_view op, ElementType type);     // IsNaN, Not: one input to bool
    TypedLoop (*where)(size_t element_size);                      // condition, then two inputs
    TypedLoop (*cast)(ElementType from, ElementType to);          // saturating and truncating from float; integers wrap
};

namespace baseline {
const TypedOps& typed_ops();
}
namespace avx2 {
const TypedOps& typed_ops();
}

}  // namespace headway
