#include "tensor/element_type.h"

#include <array>
#include <bit>
#include <cmath>

namespace headway {
namespace {

struct Entry {
    ElementType type;
    std::string_view name;
    size_t size;
    size_t bits;
};

constexpr std::array<Entry, 25> table{{
    {ElementType::f32, "f32", 4, 32},
    {ElementType::u8, "u8", 1, 8},
    {ElementType::i8, "i8", 1, 8},
    {ElementType::u16, "u16", 2, 16},
    {ElementType::i16, "i16", 2, 16},
    {ElementType::i32, "i32", 4, 32},
    {ElementType::i64, "i64", 8, 64},
    {ElementType::string, "string", 0, 0},
    {ElementType::boolean, "bool", 1, 8},
    {ElementType::f16, "f16", 2, 16},
    {ElementType::f64, "f64", 8, 64},
    {ElementType::u32, "u32", 4, 32},
    {ElementType::u64, "u64", 8, 64},
    {ElementType::bf16, "bf16", 2, 16},
    {ElementType::f8e4m3fn, "f8e4m3fn", 1, 8},
    {ElementType::f8e4m3fnuz, "f8e4m3fnuz", 1, 8},
    {ElementType::f8e5m2, "f8e5m2", 1, 8},
    {ElementType::f8e5m2fnuz, "f8e5m2fnuz", 1, 8},
    {ElementType::u4, "u4", 1, 4},
    {ElementType::i4, "i4", 1, 4},
    {ElementType::f4e2m1, "f4e2m1", 1, 4},
    {ElementType::f8e8m0, "f8e8m0", 1, 8},
    {ElementType::u2, "u2", 1, 2},
    {ElementType::i2, "i2", 1, 2},
    {ElementType::undefined, "undefined", 0, 0},
}};

}  // namespace

size_t size_of(ElementType type) {
    for (const Entry& entry : table)
        if (entry.type == type) return entry.size;
    return 0;
}

size_t bits_of(ElementType type) {
    for (const Entry& entry : table)
        if (entry.type == type) return entry.bits;
    return 0;
}

std::string_view to_string(ElementType type) {
    for (const Entry& entry : table)
        if (entry.type == type) return entry.name;
    return "undefined";
}

ElementType element_type_from_string(std::string_view word) {
    for (const Entry& entry : table)
        if (entry.name == word) return entry.type;
    return ElementType::undefined;
}

bool is_float(ElementType type) {
    return type == ElementType::f32 || type == ElementType::f64 || type == ElementType::f16 ||
           type == ElementType::bf16 || is_narrow_float(type);
}

bool is_narrow_float(ElementType type) {
    return (type >= ElementType::f8e4m3fn && type <= ElementType::f8e5m2fnuz) || type == ElementType::f4e2m1 ||
           type == ElementType::f8e8m0;
}

bool is_narrow_integer(ElementType type) {
    return type == ElementType::u4 || type == ElementType::i4 || type == ElementType::u2 || type == ElementType::i2;
}

float bf16_to_float(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

uint16_t float_to_bf16(float value) {
    const auto bits = std::bit_cast<uint32_t>(value);
    if (std::isnan(value)) return static_cast<uint16_t>((bits >> 16) | 0x40);
    return static_cast<uint16_t>((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16);
}

float f16_to_float(uint16_t bits) {
    const uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16;
    const uint32_t exponent = (bits >> 10) & 0x1F;
    const uint32_t mantissa = bits & 0x3FF;
    if (exponent == 31) return std::bit_cast<float>(sign | 0x7F800000 | (mantissa << 13));
    if (exponent == 0) {
        const float value = std::ldexp(static_cast<float>(mantissa), -24);
        return sign != 0 ? -value : value;
    }
    return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
}

uint16_t float_to_f16(float value) {
    const auto bits = std::bit_cast<uint32_t>(value);
    const auto sign = static_cast<uint16_t>((bits >> 16) & 0x8000);
    if (std::isnan(value)) return sign | 0x7E00;
    const float magnitude = std::fabs(value);
    if (magnitude >= 65520.0F) return sign | 0x7C00;
    if (magnitude < 6.103515625e-05F)  // subnormal halves are multiples of 2^-24
        return sign | static_cast<uint16_t>(std::nearbyint(std::ldexp(magnitude, 24)));
    const uint32_t rounded = (bits & 0x7FFFFFFF) + 0xFFF + ((bits >> 13) & 1);
    return sign | static_cast<uint16_t>((rounded >> 13) - (112 << 10));
}

}  // namespace headway
