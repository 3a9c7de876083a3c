#include "tensor/narrow.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/checked.h"

namespace headway {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// Sign, exponent, mantissa. Patterns are those of positive numbers.
struct Format {
    int exponent_bits, mantissa_bits, bias;
    int largest;                // pattern of the largest finite number
    int infinity = 0;           // 0: there is none
    int nan;                    // f4e2m1 has none: negative zero stands for it, as in ONNX's cases
    bool negative_zero = true;  // false: its pattern is the NaN
    int magnitude_bits() const { return exponent_bits + mantissa_bits; }
};

Format format_of(ElementType type) {
    switch (type) {
        case ElementType::f8e4m3fn:
            return {.exponent_bits = 4, .mantissa_bits = 3, .bias = 7, .largest = 0x7E, .nan = 0x7F};
        case ElementType::f8e4m3fnuz:
            return {.exponent_bits = 4,
                    .mantissa_bits = 3,
                    .bias = 8,
                    .largest = 0x7F,
                    .nan = 0x80,
                    .negative_zero = false};
        case ElementType::f8e5m2:
            return {.exponent_bits = 5, .mantissa_bits = 2, .bias = 15, .largest = 0x7B, .infinity = 0x7C, .nan = 0x7E};
        case ElementType::f8e5m2fnuz:
            return {.exponent_bits = 5,
                    .mantissa_bits = 2,
                    .bias = 16,
                    .largest = 0x7F,
                    .nan = 0x80,
                    .negative_zero = false};
        case ElementType::f4e2m1:
            return {.exponent_bits = 2, .mantissa_bits = 1, .bias = 1, .largest = 0x7, .nan = 0x8};
        default:
            throw InternalError("no narrow floating-point type: " + std::string(to_string(type)));
    }
}

// E8M0: 2^(bits - 127).
constexpr int power_bias = 127;
constexpr uint8_t power_nan = 0xFF;
constexpr uint8_t largest_power = 0xFE;

double power_to_double(uint8_t bits) { return bits == power_nan ? nan : std::ldexp(1.0, bits - power_bias); }

uint8_t double_to_power(double value, const NarrowRounding& rounding) {
    if (std::isnan(value) || value < 0) return power_nan;
    if (value < power_to_double(0)) return rounding.saturate ? 0 : power_nan;
    if (value > power_to_double(largest_power)) return rounding.saturate ? largest_power : power_nan;
    const int exponent = std::ilogb(value);
    const double fraction = std::ldexp(value, -exponent);  // 1 <= fraction < 2
    const bool up = (rounding.power == PowerRounding::up && fraction > 1) ||
                    (rounding.power == PowerRounding::nearest && fraction >= 1.5);
    return static_cast<uint8_t>(exponent + power_bias + (up ? 1 : 0));
}

}  // namespace

double narrow_to_double(ElementType type, uint8_t bits) {
    if (type == ElementType::f8e8m0) return power_to_double(bits);
    const Format format = format_of(type);
    const int sign = 1 << format.magnitude_bits();
    const int pattern = bits & (sign - 1);
    const bool negative = (bits & sign) != 0;
    if (pattern == 0 && negative && !format.negative_zero) return nan;
    if (pattern > format.largest && pattern != format.infinity) return nan;
    const int mantissa = pattern & ((1 << format.mantissa_bits) - 1);
    const int exponent = pattern >> format.mantissa_bits;
    double value = 0;
    if (pattern > format.largest)
        value = infinity;
    else if (exponent == 0)
        value = std::ldexp(mantissa, 1 - format.bias - format.mantissa_bits);
    else
        value = std::ldexp(mantissa + (1 << format.mantissa_bits), exponent - format.bias - format.mantissa_bits);
    return negative ? -value : value;
}

uint8_t double_to_narrow(ElementType type, double value, const NarrowRounding& rounding) {
    if (type == ElementType::f8e8m0) return double_to_power(value, rounding);
    const Format format = format_of(type);
    const int sign = std::signbit(value) ? 1 << format.magnitude_bits() : 0;
    if (std::isnan(value)) return static_cast<uint8_t>(sign | format.nan);
    const double magnitude = std::fabs(value);
    int pattern = 0;
    if (std::isinf(value)) {
        pattern = format.largest + 1;
    } else if (magnitude > 0) {
        // Below the normal numbers the unit no longer shrinks; a mantissa that rounds up carries into the exponent.
        const int exponent = std::max(std::ilogb(magnitude), 1 - format.bias);
        const auto units = static_cast<int>(std::nearbyint(std::ldexp(magnitude, format.mantissa_bits - exponent)));
        pattern = ((exponent + format.bias - 1) << format.mantissa_bits) + units;
    }
    if (pattern > format.largest) {
        if (rounding.saturate || type == ElementType::f4e2m1)
            pattern = format.largest;
        else
            pattern = format.infinity != 0 ? format.infinity : format.nan;
    }
    if (pattern == 0 && !format.negative_zero) return 0;
    return static_cast<uint8_t>(sign | pattern);
}

uint8_t narrow_byte(ElementType type, uint8_t bits) {
    const auto unused = static_cast<int>(8 - bits_of(type));
    const auto high = static_cast<uint8_t>(bits << unused);
    if (type == ElementType::i4 || type == ElementType::i2)
        return static_cast<uint8_t>(static_cast<int8_t>(high) >> unused);
    return static_cast<uint8_t>(high >> unused);
}

int64_t packed_bytes(ElementType type, int64_t elements) {
    return ceil_div(checked_mul(elements, static_cast<int64_t>(bits_of(type)), "tensor size"), 8);
}

Tensor unpacked(ElementType type, Shape shape, std::span<const std::byte> bytes) {
    Tensor tensor(type, std::move(shape));
    const size_t bits = bits_of(type), each = 8 / bits;
    const std::span<std::byte> to = tensor.mutable_bytes();
    for (size_t i = 0; i < to.size(); ++i)
        to[i] = std::byte{narrow_byte(type, static_cast<uint8_t>(bytes[i / each] >> (i % each * bits)))};
    return tensor;
}

std::string packed(const Tensor& tensor) {
    const std::span<const std::byte> from = tensor.bytes();
    const size_t bits = bits_of(tensor.type());
    std::string bytes(static_cast<size_t>(packed_bytes(tensor.type(), tensor.elements())), '\0');
    const size_t each = 8 / bits;
    for (size_t i = 0; i < from.size(); ++i) {
        const int element = static_cast<int>(from[i]) & ((1 << bits) - 1);
        bytes[i / each] = static_cast<char>(bytes[i / each] | element << (i % each * bits));
    }
    return bytes;
}

}  // namespace headway
