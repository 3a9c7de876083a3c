// Element types, with ONNX's numbers (TensorProto.DataType) so that files need no second table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace headway {

enum class ElementType : uint8_t {
    undefined = 0,
    f32 = 1,
    u8 = 2,
    i8 = 3,
    u16 = 4,
    i16 = 5,
    i32 = 6,
    i64 = 7,
    string = 8,
    boolean = 9,
    f16 = 10,
    f64 = 11,
    u32 = 12,
    u64 = 13,
    bf16 = 16,
};

// Bytes of one element; 0 for undefined and string.
size_t size_of(ElementType type);
// "f32", "i64", ...; "undefined" for anything else.
std::string_view to_string(ElementType type);
// Inverse of to_string; undefined for unknown words.
ElementType element_type_from_string(std::string_view word);
bool is_float(ElementType type);

float bf16_to_float(uint16_t bits);
uint16_t float_to_bf16(float value);  // round to nearest even, NaN stays NaN
float f16_to_float(uint16_t bits);
uint16_t float_to_f16(float value);  // round to nearest even

template <class T>
constexpr ElementType element_type_of();
template <>
constexpr ElementType element_type_of<float>() {
    return ElementType::f32;
}
template <>
constexpr ElementType element_type_of<double>() {
    return ElementType::f64;
}
template <>
constexpr ElementType element_type_of<int64_t>() {
    return ElementType::i64;
}
template <>
constexpr ElementType element_type_of<int32_t>() {
    return ElementType::i32;
}
template <>
constexpr ElementType element_type_of<int16_t>() {
    return ElementType::i16;
}
template <>
constexpr ElementType element_type_of<int8_t>() {
    return ElementType::i8;
}
template <>
constexpr ElementType element_type_of<uint8_t>() {
    return ElementType::u8;
}
template <>
constexpr ElementType element_type_of<uint16_t>() {
    return ElementType::u16;
}
template <>
constexpr ElementType element_type_of<uint32_t>() {
    return ElementType::u32;
}
template <>
constexpr ElementType element_type_of<uint64_t>() {
    return ElementType::u64;
}
template <>
constexpr ElementType element_type_of<bool>() {
    return ElementType::boolean;
}

}  // namespace headway
