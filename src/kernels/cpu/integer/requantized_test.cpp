// QLinearConv, QLinearMatMul and QGemm against plain loops over integers and one quotient in double.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "kernels/cpu/integer/byte_testing.h"

namespace headway {
namespace {

using testing::byte_types;
using testing::number;

std::vector<uint8_t> random_bytes(int64_t count, uint32_t seed) {
    std::mt19937 generator(seed);
    std::vector<uint8_t> values;
    for (int64_t i = 0; i < count; ++i) values.push_back(static_cast<uint8_t>(generator() >> 8));
    return values;
}

struct Types {
    ElementType x, w, y;
};

// Scales that are powers of two: quotients are exact, and ties happen.
struct Parameters {
    float x_scale = 0.5F, y_scale = 64;
    uint8_t x_zero = 3, y_zero = 100;
    std::vector<float> w_scale;
    std::vector<uint8_t> w_zero;
    std::vector<int32_t> bias;
};

Parameters parameters_of(int64_t channels, bool per_channel, bool moved, bool has_bias) {
    Parameters p;
    for (int64_t i = 0; i < (per_channel ? channels : 1); ++i) {
        p.w_scale.push_back(i % 2 == 0 ? 0.5F : 0.25F);
        p.w_zero.push_back(static_cast<uint8_t>(moved ? i % 3 + 1 : 0));
    }
    for (int64_t i = 0; has_bias && i < channels; ++i) p.bias.push_back(static_cast<int32_t>(i * 37 - 200));
    return p;
}

uint8_t quantised(int64_t sum, int64_t channel, const Parameters& p, ElementType type) {
    const size_t k = p.w_scale.size() == 1 ? 0 : static_cast<size_t>(channel);
    if (!p.bias.empty()) sum += p.bias[static_cast<size_t>(channel)];
    const double real = static_cast<double>(sum) * p.x_scale * p.w_scale[k] / p.y_scale;
    const double low = type == ElementType::u8 ? 0 : -128;
    const double steps = std::nearbyint(real) + static_cast<double>(number(p.y_zero, type));
    return static_cast<uint8_t>(static_cast<int64_t>(std::clamp(steps, low, low + 255)));
}

int64_t weight_zero(const Parameters& p, int64_t channel, ElementType type) {
    return number(p.w_zero[p.w_zero.size() == 1 ? 0 : static_cast<size_t>(channel)], type);
}

void add_quantised(testing::KernelCase& test, TensorDesc desc, const std::vector<uint8_t>& values,
                   const std::vector<float>& scale, const std::vector<uint8_t>& zero, bool constant) {
    const Shape parameters = scale.size() == 1 ? Shape{} : Shape{static_cast<int64_t>(scale.size())};
    const ElementType type = desc.type;
    test.add_src(std::move(desc), values, constant);
    test.add_src({ElementType::f32, parameters, Layout::plain}, scale, true);
    test.add_src({type, parameters, Layout::plain}, zero, true);
}

void add_output(testing::KernelCase& test, ElementType type, const Parameters& p) {
    test.add_src({ElementType::f32, {}, Layout::plain}, std::vector<float>{p.y_scale}, true);
    test.add_src({type, {}, Layout::plain}, std::vector<uint8_t>{p.y_zero}, true);
}

void add_bias(testing::KernelCase& test, const Parameters& p) {
    if (!p.bias.empty())
        test.add_src({ElementType::i32, {static_cast<int64_t>(p.bias.size())}, Layout::plain}, p.bias, true);
}

struct Conv {
    Shape x, w;
    std::vector<int64_t> strides, pads, dilations;
    int64_t group = 1;
    bool per_channel = false, moved = false, has_bias = true;
};

void check(const Conv& conv, const Types& types) {
    const Parameters p = parameters_of(conv.w[0], conv.per_channel, conv.moved, conv.has_bias);
    const auto x = random_bytes(conv.x.elements(), 1), w = random_bytes(conv.w.elements(), 2);
    testing::KernelCase test;
    test.problem.op = "QLinearConv";
    testing::set_attributes(test.problem, conv);
    add_quantised(test, {types.x, conv.x, Layout::nhwc}, x, {p.x_scale}, {p.x_zero}, false);
    add_quantised(test, {types.w, conv.w, Layout::plain}, w, p.w_scale, p.w_zero, true);
    add_output(test, types.y, p);
    add_bias(test, p);
    test.problem.dst = {{types.y, testing::result_of(conv), Layout::nhwc}};
    const auto product = [&](size_t at_x, size_t at_w, int64_t channel) {
        return (number(x[at_x], types.x) - number(p.x_zero, types.x)) *
               (number(w[at_w], types.w) - weight_zero(p, channel, types.w));
    };
    std::vector<uint8_t> want;
    testing::for_each_sum(conv, product,
                          [&](int64_t channel, int64_t sum) { want.push_back(quantised(sum, channel, p, types.y)); });
    testing::expect_all(test, want);
}

TEST(RequantizedConv, MatchesPlainLoops) {
    const std::vector<Conv> cases{
        {{1, 1, 5}, {1, 1, 3}, {1}, {1, 1}, {1}},
        {{2, 17, 70}, {24, 17, 3}, {2}, {3, 0}, {2}, 1, true},
        {{1, 3, 9, 11}, {33, 3, 3, 5}, {1, 2}, {1, 2, 0, 1}, {1, 1}, 1, true, true},
        {{1, 24, 6, 6}, {24, 1, 3, 3}, {1, 1}, {1, 1, 1, 1}, {1, 1}, 24, true},
        {{1, 40, 7, 6}, {40, 1, 3, 3}, {2, 1}, {1, 1, 1, 1}, {1, 1}, 40, false, true},
        {{2, 24, 5, 7}, {65, 24, 1, 1}, {1, 1}, {0, 0, 0, 0}, {1, 1}, 1, true},
        {{2, 24, 5, 7}, {33, 24, 1, 1}, {1, 1}, {0, 0, 0, 0}, {1, 1}, 1, false, true, false},
        {{2, 6, 4, 7}, {10, 3, 1, 1}, {1, 1}, {0, 0, 0, 0}, {1, 1}, 2},
        {{0, 2, 8}, {3, 2, 3}, {1}, {0, 0}, {1}},
        // Three channels: copies of lines; padding wider than the image's rest.
        {{2, 3, 12, 40}, {16, 3, 7, 7}, {2, 2}, {3, 3, 3, 3}, {1, 1}, 1, true},
        {{1, 3, 3, 2}, {17, 3, 2, 5}, {1, 1}, {0, 4, 0, 4}, {2, 1}, 1, true},
        // Groups whose channels are read in place, and with a step between taps.
        {{1, 16, 7, 9}, {48, 8, 3, 3}, {1, 2}, {1, 1, 1, 1}, {1, 1}, 2, true},
        {{1, 8, 9, 9}, {33, 8, 3, 3}, {1, 1}, {2, 2, 2, 2}, {2, 2}},
        // Depthwise: one, two and four outputs at a time, several quads, whole blocks of channels and parts of one.
        {{1, 64, 5, 9}, {64, 1, 3, 3}, {1, 1}, {1, 1, 1, 1}, {1, 1}, 64, true},
        {{2, 80, 6, 7}, {80, 1, 5, 5}, {1, 1}, {2, 2, 2, 2}, {1, 1}, 80, true},
        {{1, 17, 9, 12}, {17, 1, 5, 5}, {2, 2}, {2, 2, 2, 2}, {1, 1}, 17, true, true},
        {{1, 130, 8, 8}, {130, 1, 3, 7}, {2, 1}, {1, 3, 1, 3}, {1, 1}, 130},
        {{1, 3, 5, 3}, {3, 1, 3, 3}, {1, 1}, {4, 4, 4, 4}, {2, 3}, 3, true},
        {{1, 24, 75}, {24, 1, 9}, {1}, {4, 4}, {1}, 24, true},
        {{1, 2, 6, 5}, {2, 1, 4, 1}, {1, 1}, {0, 0, 0, 0}, {1, 1}, 2},
    };
    for (const Conv& conv : cases)
        for (ElementType x : byte_types)
            for (ElementType w : byte_types)
                for (ElementType y : byte_types) check(conv, {x, w, y});
}

void check_product(const Shape& a_shape, int64_t columns, bool gemm, bool turned, bool per_column, const Types& types) {
    const int64_t inner = a_shape.back(), rows = a_shape.elements(0, a_shape.rank() - 1);
    const Parameters p = parameters_of(columns, per_column, per_column, gemm);
    const auto a = random_bytes(rows * inner, 1), b = random_bytes(inner * columns, 2);
    testing::KernelCase test;
    test.problem.op = gemm ? "com.microsoft/QGemm" : "QLinearMatMul";
    if (turned) test.problem.attributes.set("transB", int64_t{1});
    add_quantised(test, {types.x, a_shape, Layout::plain}, a, {p.x_scale}, {p.x_zero}, false);
    add_quantised(test, {types.w, turned ? Shape{columns, inner} : Shape{inner, columns}, Layout::plain}, b, p.w_scale,
                  p.w_zero, true);
    if (gemm) add_bias(test, p);
    add_output(test, types.y, p);
    std::vector<int64_t> dims = a_shape.dims();
    dims.back() = columns;
    test.problem.dst = {{types.y, Shape(dims), Layout::plain}};
    std::vector<uint8_t> want;
    for (int64_t i = 0; i < rows; ++i)
        for (int64_t j = 0; j < columns; ++j) {
            int64_t sum = 0;
            for (int64_t k = 0; k < inner; ++k)
                sum += (number(a[static_cast<size_t>(i * inner + k)], types.x) - number(p.x_zero, types.x)) *
                       (number(b[static_cast<size_t>(turned ? j * inner + k : k * columns + j)], types.w) -
                        weight_zero(p, j, types.w));
            want.push_back(quantised(sum, j, p, types.y));
        }
    testing::expect_all(test, want);
}

TEST(RequantizedProduct, MatchesPlainLoops) {
    for (ElementType x : byte_types)
        for (ElementType w : byte_types)
            for (ElementType y : byte_types) {
                check_product({1, 1}, 1, false, false, false, {x, w, y});
                check_product({3, 17}, 24, false, false, true, {x, w, y});
                check_product({2, 20, 64}, 33, false, false, false, {x, w, y});
                check_product({41, 130}, 65, true, true, true, {x, w, y});
                check_product({5, 8}, 3, true, false, false, {x, w, y});
                check_product({0, 4}, 3, false, false, false, {x, w, y});
            }
}

}  // namespace
}  // namespace headway
