#include "tensor/narrow.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace headway {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
const std::vector<ElementType> rounded_types{ElementType::f8e4m3fn, ElementType::f8e4m3fnuz, ElementType::f8e5m2,
                                             ElementType::f8e5m2fnuz, ElementType::f4e2m1};

int patterns(ElementType type) { return 1 << bits_of(type); }

double number(ElementType type, int bits) { return narrow_to_double(type, static_cast<uint8_t>(bits)); }

int bits(ElementType type, double value, bool saturate = true) {
    return double_to_narrow(type, value, {.saturate = saturate});
}

int power(double value, PowerRounding rounding, bool saturate = true) {
    return double_to_narrow(ElementType::f8e8m0, value, {saturate, rounding});
}

// The nearest of all finite numbers by looking at each, the even pattern between two: shares nothing with the code
// under test but the numbers themselves.
int nearest(ElementType type, double value) {
    int best = 0;
    for (int pattern = 0; pattern < patterns(type) / 2; ++pattern) {
        const double candidate = number(type, pattern);
        if (!std::isfinite(candidate)) continue;
        const double distance = std::fabs(candidate - value), least = std::fabs(number(type, best) - value);
        if (distance < least || (distance == least && pattern % 2 == 0)) best = pattern;
    }
    return best;
}

TEST(NarrowFloats, NumbersOfTheirDefinitions) {
    EXPECT_EQ(number(ElementType::f8e4m3fn, 0x7E), 448);
    EXPECT_EQ(number(ElementType::f8e4m3fn, 0x01), 0x1p-9);
    EXPECT_EQ(number(ElementType::f8e4m3fn, 0x88), -0x1p-6);
    EXPECT_EQ(number(ElementType::f8e4m3fnuz, 0x7F), 240);
    EXPECT_EQ(number(ElementType::f8e4m3fnuz, 0x01), 0x1p-10);
    EXPECT_EQ(number(ElementType::f8e5m2, 0x7B), 57344);
    EXPECT_EQ(number(ElementType::f8e5m2, 0x01), 0x1p-16);
    EXPECT_EQ(number(ElementType::f8e5m2, 0xFC), -infinity);
    EXPECT_EQ(number(ElementType::f8e5m2fnuz, 0xFF), -57344);
    EXPECT_EQ(number(ElementType::f8e5m2fnuz, 0x01), 0x1p-17);
    for (const ElementType type : {ElementType::f8e4m3fn, ElementType::f8e5m2}) {
        EXPECT_TRUE(std::isnan(number(type, 0x7F)));
        EXPECT_TRUE(std::isnan(number(type, 0xFF)));
        EXPECT_TRUE(std::signbit(number(type, 0x80)));
    }
    EXPECT_TRUE(std::isnan(number(ElementType::f8e4m3fnuz, 0x80)));
    EXPECT_TRUE(std::isnan(number(ElementType::f8e5m2fnuz, 0x80)));
    const double halves[] = {0, 1, 2, 3, 4, 6, 8, 12};
    for (int i = 0; i < 8; ++i) EXPECT_EQ(number(ElementType::f4e2m1, i), halves[i] / 2);
    EXPECT_EQ(number(ElementType::f8e8m0, 0), 0x1p-127);
    EXPECT_EQ(number(ElementType::f8e8m0, 127), 1);
    EXPECT_EQ(number(ElementType::f8e8m0, 254), 0x1p127);
    EXPECT_TRUE(std::isnan(number(ElementType::f8e8m0, 255)));
}

TEST(NarrowFloats, EveryPatternSurvivesTheRoundTrip) {
    for (const ElementType type : {ElementType::f8e4m3fn, ElementType::f8e4m3fnuz, ElementType::f8e5m2,
                                   ElementType::f8e5m2fnuz, ElementType::f4e2m1, ElementType::f8e8m0}) {
        for (int pattern = 0; pattern < patterns(type); ++pattern) {
            const double value = number(type, pattern);
            if (std::isnan(value))
                EXPECT_TRUE(std::isnan(number(type, bits(type, value)))) << to_string(type) << " " << pattern;
            else
                EXPECT_EQ(bits(type, value, false), pattern) << to_string(type) << " " << pattern;
        }
    }
}

TEST(NarrowFloats, RoundToTheNearestOnce) {
    for (const ElementType type : rounded_types) {
        const double largest = number(type, bits(type, infinity));
        for (int pattern = 0; number(type, pattern) < largest; ++pattern) {
            const double low = number(type, pattern), high = number(type, pattern + 1), middle = (low + high) / 2;
            for (const double value : {low, middle, std::nextafter(middle, low), std::nextafter(middle, high)})
                EXPECT_EQ(bits(type, value), nearest(type, value)) << to_string(type) << " " << value;
        }
    }
    // through f32 it would be a tie
    EXPECT_EQ(bits(ElementType::f8e4m3fn, 1.0625 + 0x1p-40), 0x39);
}

TEST(NarrowFloats, WhatIsOutOfRangeFollowsTheTables) {
    struct Row {
        ElementType type;
        int largest, beyond;  // beyond: without saturation
        double last;          // still rounds to the largest
    };
    for (const auto& [type, largest, beyond, last] :
         {Row{ElementType::f8e4m3fn, 0x7E, 0x7F, 464}, Row{ElementType::f8e4m3fnuz, 0x7F, 0x80, 247.9},
          Row{ElementType::f8e5m2, 0x7B, 0x7C, 61439.9}, Row{ElementType::f8e5m2fnuz, 0x7F, 0x80, 61439.9}}) {
        for (const double value : {infinity, 1e300, last + 0.2}) {
            EXPECT_EQ(bits(type, value), largest) << to_string(type) << " " << value;
            EXPECT_EQ(bits(type, -value), largest | 0x80) << to_string(type) << " " << value;
            EXPECT_EQ(bits(type, value, false), beyond) << to_string(type) << " " << value;
            EXPECT_EQ(bits(type, -value, false), beyond | 0x80) << to_string(type) << " " << value;
        }
        EXPECT_EQ(bits(type, last, false), largest) << to_string(type);
    }
    EXPECT_EQ(bits(ElementType::f8e4m3fn, -0.0), 0x80);
    EXPECT_EQ(bits(ElementType::f8e4m3fnuz, -0.0), 0);
    EXPECT_EQ(bits(ElementType::f8e5m2fnuz, -1e-30), 0);
    EXPECT_EQ(bits(ElementType::f4e2m1, -infinity, false), 0xF);
    EXPECT_EQ(bits(ElementType::f4e2m1, std::nan(""), false), 0x8);
}

TEST(NarrowFloats, PowersOfTwoRoundInThreeWays) {
    for (const auto rounding : {PowerRounding::up, PowerRounding::down, PowerRounding::nearest}) {
        EXPECT_EQ(power(1, rounding), 127);
        EXPECT_EQ(power(std::nan(""), rounding), 255);
        EXPECT_EQ(power(-2, rounding), 255);
        EXPECT_EQ(power(0, rounding), 0);
        EXPECT_EQ(power(0, rounding, false), 255);
        EXPECT_EQ(power(infinity, rounding), 254);
        EXPECT_EQ(power(infinity, rounding, false), 255);
        EXPECT_EQ(power(1.2 * 0x1p127, rounding), 254);
        EXPECT_EQ(power(0x1p127, rounding, false), 254);
    }
    EXPECT_EQ(power(1.01, PowerRounding::up), 128);
    EXPECT_EQ(power(1.99, PowerRounding::down), 127);
    EXPECT_EQ(power(1.49, PowerRounding::nearest), 127);
    EXPECT_EQ(power(1.5, PowerRounding::nearest), 128);
}

TEST(NarrowTypes, PackTheFirstElementIntoTheLowestBits) {
    Tensor four(ElementType::i4, Shape{3});
    for (int i = 0; i < 3; ++i) four.set(i, 2 - 3 * i);  // 2, -1, -4
    EXPECT_EQ(packed(four), std::string("\xF2\x0C", 2));
    Tensor two(ElementType::u2, Shape{5});
    for (int i = 0; i < 5; ++i) two.set(i, i);  // 0, 1, 2, 3, 3
    EXPECT_EQ(packed(two), std::string("\xE4\x03", 2));
    const std::string bytes("\xE4\xFF", 2);
    const Tensor back = unpacked(ElementType::i2, Shape{5}, std::as_bytes(std::span(bytes)));
    EXPECT_EQ(back.to_int64(), (std::vector<int64_t>{0, 1, -2, -1, -1}));
    EXPECT_EQ(packed_bytes(ElementType::u2, 5), 2);
    EXPECT_EQ(packed_bytes(ElementType::f4e2m1, 0), 0);
    EXPECT_EQ(packed_bytes(ElementType::f32, 3), 12);
}

TEST(NarrowTypes, SetSaturates) {
    const auto set = [](ElementType type, double value) {
        Tensor tensor(type, Shape{1});
        tensor.set(0, value);
        return tensor.at(0);
    };
    EXPECT_EQ(set(ElementType::i4, 8), 7);
    EXPECT_EQ(set(ElementType::i4, -9), -8);
    EXPECT_EQ(set(ElementType::u4, 16), 15);
    EXPECT_EQ(set(ElementType::u4, -1), 0);
    EXPECT_EQ(set(ElementType::i2, 2), 1);
    EXPECT_EQ(set(ElementType::i2, -3), -2);
    EXPECT_EQ(set(ElementType::u2, 4), 3);
    EXPECT_EQ(set(ElementType::f8e5m2, 1e6), 57344);
}

}  // namespace
}  // namespace headway
