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
    // Narrow types. In memory each element takes a byte of its own, whatever its width: 2- and 4-bit integers as the
    // 8-bit integer of their value, f4e2m1 in the low four bits. Only files pack them (tensor/narrow.h).
    f8e4m3fn = 17,
    f8e4m3fnuz = 18,
    f8e5m2 = 19,
    f8e5m2fnuz = 20,
    u4 = 21,
    i4 = 22,
    f4e2m1 = 23,
    f8e8m0 = 24,
    u2 = 25,
    i2 = 26,
};

// Bytes of one element in memory; 0 for undefined and string.
size_t size_of(ElementType type);
// Bits of one element in files; 0 for undefined and string.
size_t bits_of(ElementType type);
// "f32", "i64", ...; "undefined" for anything else.
std::string_view to_string(ElementType type);
// Inverse of to_string; undefined for unknown words.
ElementType element_type_from_string(std::string_view word);
// Narrow floating-point types too.
bool is_float(ElementType type);
bool is_narrow_float(ElementType type);
bool is_narrow_integer(ElementType type);

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
