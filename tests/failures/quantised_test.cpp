// Public failures of quantised operators: sums that saturate at 16 bits, ties, zero points and their types.
#include <algorithm>
#include <cmath>

#include "everywhere.h"
#include "tensor/random.h"

namespace headway::testing {
namespace {

Tensor filled(ElementType type, const Shape& shape, const std::function<double(int64_t)>& value) {
    Tensor tensor(type, shape);
    for (int64_t i = 0; i < tensor.elements(); ++i) tensor.set(i, value(i));
    return tensor;
}

double half_even(double value) { return std::nearbyint(value); }

double clamped(double value, ElementType type) {
    return type == ElementType::u8 ? std::clamp(value, 0.0, 255.0) : std::clamp(value, -128.0, 127.0);
}

// G23: the ends of the range, and an odd and an even number of terms, for each pair of types: sums are exact in 32
// bits.
TEST(IntegerProducts, DoNotSaturateInBetween) {
    for (const ElementType a_type : {ElementType::u8, ElementType::i8})
        for (const ElementType b_type : {ElementType::u8, ElementType::i8})
            for (const int64_t depth : {1, 2, 3, 4, 7, 16, 33, 64})
                for (const bool high : {true, false}) {
                    const double a_end = a_type == ElementType::u8 ? 255 : -128;
                    const double b_end = b_type == ElementType::u8 ? 255 : high ? 127 : -128;
                    const Tensor a = filled(a_type, {3, depth}, [&](int64_t) { return a_end; });
                    const Tensor b = filled(b_type, {depth, 17}, [&](int64_t) { return b_end; });
                    const std::vector<double> sums(51, a_end * b_end * static_cast<double>(depth));
                    for (const size_t at_run_time : {1, 2})
                        expect_everywhere(NodeCase{"MatMulInteger", 10, {a, b}, {}, 1, at_run_time}, {{{3, 17}, sums}},
                                          0);
                    const Tensor image = filled(a_type, {1, depth, 2, 3}, [&](int64_t) { return a_end; });
                    const Tensor weights = filled(b_type, {5, depth, 1, 1}, [&](int64_t) { return b_end; });
                    expect_everywhere(NodeCase{"ConvInteger", 10, {image, weights}},
                                      {{{1, 5, 2, 3}, std::vector<double>(30, sums[0])}}, 0);
                }
}

// G24: ties go to even before the zero point is added, also where a graph dequantises, computes and quantises again.
TEST(Quantisation, RoundsTiesToEven) {
    for (const ElementType type : {ElementType::u8, ElementType::i8})
        for (const double zero : {0.0, 3.0, 100.0}) {
            const Tensor x = ramp({601}, -150, 0.5), scale = f32({}, {1}), point = of_type(type, {}, {zero});
            const std::vector<double> want =
                numbers(601, [&](int64_t i) { return clamped(half_even(x.at(i)) + zero, type); });
            expect_everywhere(NodeCase{"QuantizeLinear", 13, {x, scale, point}}, {{{601}, want}}, 0);
        }
    const Tensor x = filled(ElementType::u8, {1, 1, 1, 256}, [](int64_t i) { return static_cast<double>(i); });
    // y = x * 0.5 through DQ, Conv by one and Q: halves of odd numbers are ties.
    const std::vector<double> want = numbers(256, [](int64_t i) { return half_even(static_cast<double>(i) / 2); });
    expect_everywhere(R"(graph {
        input %x: u8[1,1,1,256]
        const %s: f32[] = {0.25}
        const %t: f32[] = {0.5}
        const %z: u8[] = {0}
        const %w: f32[1,1,1,1] = {1}
        %d = DequantizeLinear(%x, %s, %z)
        %c = Conv(%d, %w)
        %y = QuantizeLinear(%c, %t, %z)
        output %y
    })",
                      {x}, {{{1, 1, 1, 256}, want}}, 0);
    expect_everywhere(
        NodeCase{"QLinearConv",
                 10,
                 {x, f32({}, {0.25}), of_type(ElementType::u8, {}, {0}), of_type(ElementType::i8, {1, 1, 1, 1}, {1}),
                  f32({}, {1}), of_type(ElementType::i8, {}, {0}), f32({}, {0.5}), of_type(ElementType::u8, {}, {0})}},
        {{{1, 1, 1, 256}, want}}, 0);
}

// G25, G26: data movement beside DequantizeLinear keeps types, of 32-bit biases and of bytes without a zero point.
TEST(DequantizeLinear, KeepsTypesBesideDataMovement) {
    const Tensor bias = filled(ElementType::i32, {6}, [](int64_t i) { return static_cast<double>(100000 * (i - 3)); });
    expect_everywhere(R"(graph {
        input %b: i32[6]
        const %s: f32[] = {0.5}
        const %shape: i64[2] = {2,3}
        %d = DequantizeLinear(%b, %s)
        %r = Reshape(%d, %shape)
        %y = Transpose(%r) {perm=[1,0]}
        output %y
    })",
                      {bias}, {{{3, 2}, {-150000, 0, -100000, 50000, -50000, 100000}}}, 0);
    for (const ElementType type : {ElementType::u8, ElementType::i8}) {
        const Tensor x = filled(type, {2, 3}, [&](int64_t i) {
            return type == ElementType::u8 ? 120.0 + 25 * static_cast<double>(i) : -128 + 50 * static_cast<double>(i);
        });
        const std::vector<double> turned{x.at(0) / 2, x.at(3) / 2, x.at(1) / 2, x.at(4) / 2, x.at(2) / 2, x.at(5) / 2};
        const std::string word(to_string(type));
        for (const char* order : {"%t = Transpose(%x) {perm=[1,0]} %y = DequantizeLinear(%t, %s)",
                                  "%t = DequantizeLinear(%x, %s) %y = Transpose(%t) {perm=[1,0]}"})
            expect_everywhere("graph { input %x: " + word + "[2,3] const %s: f32[] = {0.5} " + order + " output %y }",
                              {x}, {{{3, 2}, turned}}, 0);
        // Per axis: the axis of the scales goes with the transposition.
        std::vector<double> scaled = turned;
        for (size_t i = 0; i < 6; ++i) scaled[i] *= i % 2 == 0 ? 2 : 4;
        expect_everywhere("graph { input %x: " + word +
                              "[2,3] const %s: f32[2] = {1,2} %t = Transpose(%x) {perm=[1,0]} "
                              "%y = DequantizeLinear(%t, %s) {axis=1} output %y }",
                          {x}, {{{3, 2}, scaled}}, 0);
    }
}

// G27: what lies outside the image is the zero point; weights with a scale and a zero point per channel.
TEST(QLinearConv, PadsWithTheZeroPoint) {
    for (const ElementType type : {ElementType::u8, ElementType::i8})
        for (const double zero : {0.0, 7.0, 100.0})
            for (const bool per_channel : {false, true}) {
                const Tensor x =
                    filled(type, {1, 2, 3, 3}, [&](int64_t i) { return zero + static_cast<double>(i % 7) - 3; });
                const Tensor w =
                    filled(ElementType::i8, {3, 2, 3, 3}, [](int64_t i) { return static_cast<double>(i % 11) - 5; });
                const std::vector<float> scales{0.5F, 0.25F, 1.0F};
                const Shape parameters = per_channel ? Shape{3} : Shape{};
                std::vector<double> want;
                for (int64_t o = 0; o < 3; ++o)
                    for (int64_t r = 0; r < 3; ++r)
                        for (int64_t c = 0; c < 3; ++c) {
                            double sum = 0;
                            for (int64_t k = 0; k < 2; ++k)
                                for (int64_t i = 0; i < 3; ++i)
                                    for (int64_t j = 0; j < 3; ++j) {
                                        const int64_t row = r + i - 1, column = c + j - 1;
                                        if (row < 0 || row > 2 || column < 0 || column > 2) continue;
                                        sum += (x.at((k * 3 + row) * 3 + column) - zero) *
                                               w.at(((o * 2 + k) * 3 + i) * 3 + j);
                                    }
                            const double real = sum * 0.5 * (per_channel ? scales[static_cast<size_t>(o)] : 0.5);
                            want.push_back(clamped(half_even(real / 2) + zero, type));
                        }
                Tensor w_scale(ElementType::f32, parameters), w_zero(ElementType::i8, parameters);
                for (int64_t i = 0; i < w_scale.elements(); ++i)
                    w_scale.set(i, per_channel ? scales[static_cast<size_t>(i)] : 0.5);
                expect_everywhere(NodeCase{"QLinearConv",
                                           10,
                                           {x, f32({}, {0.5}), of_type(type, {}, {zero}), w, w_scale, w_zero,
                                            f32({}, {2}), of_type(type, {}, {zero})},
                                           {{"pads", ints({1, 1, 1, 1})}}},
                                  {{{1, 3, 3, 3}, want}}, 0);
            }
}

// G28: from opset 23 on the scale may be of another type than the data.
TEST(QuantizeLinear, TakesAScaleOfAnotherType) {
    const Tensor half = of_type(ElementType::f16, {5}, {-1, -0.25, 0, 0.75, 100});
    const Tensor bytes = of_type(ElementType::u8, {}, {10});
    expect_everywhere(NodeCase{"QuantizeLinear", 23, {half, f32({}, {0.5}), bytes}}, {{{5}, {8, 10, 10, 12, 210}}}, 0);
    expect_everywhere(
        NodeCase{
            "QuantizeLinear", 23, {f32({5}, {-1, -0.25, 0, 0.75, 100}), of_type(ElementType::f16, {}, {0.5}), bytes}},
        {{{5}, {8, 10, 10, 12, 210}}}, 0);
}

}  // namespace
}  // namespace headway::testing
