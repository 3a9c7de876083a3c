#include "tensor/element_type.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

namespace headway {
namespace {

// The nearest value of a format with `mantissa` stored bits and least exponent `least`, ties to even, by exact
// arithmetic: an expectation that shares nothing with the code under test.
double rounded_to(double value, int mantissa, int least) {
    if (value == 0) return value;
    const int exponent = std::max(std::ilogb(value), least);
    const double unit = std::ldexp(1.0, exponent - mantissa);
    return std::nearbyint(value / unit) * unit;
}

TEST(ElementTypes, NamesReadBack) {
    for (const ElementType type :
         {ElementType::f32,     ElementType::u8,         ElementType::i8,       ElementType::u16,
          ElementType::i16,     ElementType::i32,        ElementType::i64,      ElementType::string,
          ElementType::boolean, ElementType::f16,        ElementType::f64,      ElementType::u32,
          ElementType::u64,     ElementType::bf16,       ElementType::f8e4m3fn, ElementType::f8e4m3fnuz,
          ElementType::f8e5m2,  ElementType::f8e5m2fnuz, ElementType::u4,       ElementType::i4,
          ElementType::f4e2m1,  ElementType::f8e8m0,     ElementType::u2,       ElementType::i2})
        EXPECT_EQ(element_type_from_string(to_string(type)), type);
    EXPECT_EQ(element_type_from_string("float"), ElementType::undefined);
    EXPECT_EQ(size_of(static_cast<ElementType>(14)), 0U);
    EXPECT_EQ(to_string(static_cast<ElementType>(99)), "undefined");
    EXPECT_EQ(size_of(ElementType::bf16), 2U);
    EXPECT_TRUE(is_float(ElementType::bf16));
    EXPECT_FALSE(is_float(ElementType::i8));
    EXPECT_TRUE(is_float(ElementType::f4e2m1));
    EXPECT_FALSE(is_float(ElementType::i4));
    EXPECT_EQ(size_of(ElementType::i4), 1U);
    EXPECT_EQ(bits_of(ElementType::i4), 4U);
}

TEST(ElementTypes, EveryHalfSurvivesTheRoundTrip) {
    for (uint32_t bits = 0; bits < 0x10000; ++bits) {
        const auto half = static_cast<uint16_t>(bits);
        if (std::isnan(f16_to_float(half))) {
            EXPECT_TRUE(std::isnan(f16_to_float(float_to_f16(f16_to_float(half))))) << bits;
        } else {
            EXPECT_EQ(float_to_f16(f16_to_float(half)), half) << bits;
        }
        if (std::isnan(bf16_to_float(half))) {
            EXPECT_TRUE(std::isnan(bf16_to_float(float_to_bf16(bf16_to_float(half))))) << bits;
        } else {
            EXPECT_EQ(float_to_bf16(bf16_to_float(half)), half) << bits;
        }
    }
}

TEST(ElementTypes, RoundingIsToNearestEven) {
    // floats around every exponent, with patterns that hit ties, their neighbours and carries
    for (int exponent = -30; exponent <= 15; ++exponent) {
        for (const uint32_t mantissa : {0x0U, 0x1U, 0xFFFU, 0x1000U, 0x1001U, 0x2FFFU, 0x3000U, 0x3001U, 0x7FFFU,
                                        0x8000U, 0x8001U, 0x17FFFU, 0x18000U, 0x7FE000U, 0x7FEFFFU, 0x7FFFFFU}) {
            const float value = std::ldexp(1 + static_cast<float>(mantissa) * 0x1p-23F, exponent);
            for (const float signed_value : {value, -value}) {
                const double half = rounded_to(signed_value, 10, -14);
                const double expected = std::fabs(half) >= 65536 ? std::copysign(HUGE_VAL, half) : half;
                EXPECT_EQ(f16_to_float(float_to_f16(signed_value)), expected) << signed_value;
                EXPECT_EQ(bf16_to_float(float_to_bf16(signed_value)), rounded_to(signed_value, 7, -126))
                    << signed_value;
            }
        }
    }
}

TEST(ElementTypes, LimitsAndSpecialValues) {
    const float infinity = std::numeric_limits<float>::infinity();
    EXPECT_EQ(float_to_f16(65504), 0x7BFF);
    EXPECT_EQ(float_to_f16(65519.99F), 0x7BFF);
    EXPECT_EQ(float_to_f16(65520), 0x7C00);
    EXPECT_EQ(float_to_f16(-infinity), 0xFC00);
    EXPECT_EQ(float_to_f16(-0.0F), 0x8000);
    EXPECT_EQ(float_to_f16(0x1p-25F), 0) << "a tie goes to even";
    EXPECT_EQ(float_to_f16(std::nextafter(0x1p-25F, 1.0F)), 1);
    EXPECT_EQ(float_to_bf16(std::numeric_limits<float>::max()), 0x7F80) << "rounds up to infinity";
    EXPECT_EQ(float_to_bf16(infinity), 0x7F80);
    // a NaN whose payload lies only in the bits that are cut off
    const float nan = std::bit_cast<float>(0x7F800001U);
    EXPECT_TRUE(std::isnan(bf16_to_float(float_to_bf16(nan))));
    EXPECT_TRUE(std::isnan(f16_to_float(float_to_f16(nan))));
}

}  // namespace
}  // namespace headway
