// Products of 8-bit integers against plain loops: exact on every instruction set.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "kernels/cpu/integer/byte_testing.h"

namespace headway {
namespace {

using testing::byte_types;
using testing::number;

// Extremes often: they are where narrower sums would saturate.
std::vector<uint8_t> bytes(int64_t count, uint32_t seed) {
    std::mt19937 generator(seed);
    std::vector<uint8_t> values;
    for (int64_t i = 0; i < count; ++i) {
        const uint32_t draw = generator();
        values.push_back(static_cast<uint8_t>(draw % 3 == 0   ? (draw % 2 == 0 ? 0x7F : 0x80)
                                              : draw % 3 == 1 ? (draw % 2 == 0 ? 0xFF : 0)
                                                              : draw >> 8));
    }
    return values;
}

struct Matmul {
    Shape a, b;
    bool constant_b = true;
    int a_zero = 1, b_zero = 1;  // entries; 0: absent
};

void check(const Matmul& shape, ElementType a_type, ElementType b_type) {
    const auto a = bytes(shape.a.elements(), 1), b = bytes(shape.b.elements(), 2);
    const auto a_zero = bytes(shape.a_zero, 3), b_zero = bytes(shape.b_zero, 4);
    testing::KernelCase test;
    test.problem.op = "MatMulInteger";
    test.add_src({a_type, shape.a, Layout::plain}, a);
    test.add_src({b_type, shape.b, Layout::plain}, b, shape.constant_b);
    const auto add_zero = [&](int entries, ElementType type, const std::vector<uint8_t>& values, bool constant) {
        if (entries == 0) return test.add_absent();
        test.add_src({type, entries == 1 ? Shape{} : Shape{entries}, Layout::plain}, values, constant);
    };
    add_zero(shape.a_zero, a_type, a_zero, false);
    add_zero(shape.b_zero, b_type, b_zero, shape.constant_b);
    const int64_t m = shape.a[shape.a.rank() - 2], k = shape.a.back(), n = shape.b.back();
    const Shape a_batch(std::vector<int64_t>(shape.a.begin(), shape.a.end() - 2));
    const Shape b_batch(std::vector<int64_t>(shape.b.begin(), shape.b.end() - 2));
    const Shape batch = broadcast(a_batch, b_batch);
    std::vector<int64_t> dims = batch.dims();
    dims.insert(dims.end(), {m, n});
    test.problem.dst = {{ElementType::i32, Shape(dims), Layout::plain}};
    const auto offset = [](const Shape& shape, const std::vector<int64_t>& index) {
        int64_t at = 0;
        for (size_t i = 0; i < shape.rank(); ++i)
            at = at * shape[i] + (shape[i] == 1 ? 0 : index[i + index.size() - shape.rank()]);
        return at;
    };
    std::vector<int32_t> want;
    testing::for_each_index(batch, [&](const std::vector<int64_t>& index, int64_t) {
        const uint8_t* left = a.data() + offset(a_batch, index) * m * k;
        const uint8_t* right = b.data() + offset(b_batch, index) * k * n;
        for (int64_t i = 0; i < m; ++i)
            for (int64_t j = 0; j < n; ++j) {
                const int64_t za = shape.a_zero == 0 ? 0 : number(a_zero[0], a_type);
                const int64_t zb = shape.b_zero == 0 ? 0 : number(b_zero[shape.b_zero == 1 ? 0 : j], b_type);
                int64_t sum = 0;
                for (int64_t at = 0; at < k; ++at)
                    sum += (number(left[i * k + at], a_type) - za) * (number(right[at * n + j], b_type) - zb);
                want.push_back(static_cast<int32_t>(sum));
            }
    });
    testing::expect_all(test, want);
}

TEST(IntegerMatmul, IsExactOnOddShapes) {
    const std::vector<Matmul> cases{
        {{1, 1}, {1, 1}},
        {{3, 17}, {17, 24}},
        {{1, 64}, {64, 33}, false},
        {{33, 7}, {7, 32}, true, 0, 0},
        {{41, 130}, {130, 65}, true, 1, 65},
        {{2, 3, 5, 9}, {9, 40}, false, 1, 40},
        {{2, 3, 5, 9}, {3, 9, 4}},
        {{3, 5, 9}, {2, 1, 9, 4}, false},
        {{0, 4}, {4, 3}},
        {{4, 0}, {0, 3}},
        {{4, 3}, {3, 0}, false},
    };
    for (const Matmul& shape : cases)
        for (ElementType a : byte_types)
            for (ElementType b : byte_types) check(shape, a, b);
}

// Sums past 32 bits wrap: 255 * 255 * 40000 > 2^31.
TEST(IntegerMatmul, WrapsLongSums) { check({{1, 40000}, {40000, 2}}, ElementType::u8, ElementType::u8); }

struct Conv {
    Shape x, w;
    std::vector<int64_t> strides, pads, dilations;
    int64_t group = 1;
    bool zero_per_channel = false;
};

void check(const Conv& conv, ElementType x_type, ElementType w_type) {
    const auto x = bytes(conv.x.elements(), 1), w = bytes(conv.w.elements(), 2);
    const auto x_zero = bytes(1, 3), w_zero = bytes(conv.zero_per_channel ? conv.w[0] : 1, 4);
    testing::KernelCase test;
    test.problem.op = "ConvInteger";
    testing::set_attributes(test.problem, conv);
    test.add_src({x_type, conv.x, Layout::plain}, x);
    test.add_src({w_type, conv.w, Layout::plain}, w, true);
    test.add_src({x_type, Shape{}, Layout::plain}, x_zero);
    test.add_src({w_type, conv.zero_per_channel ? Shape{conv.w[0]} : Shape{}, Layout::plain}, w_zero, true);
    test.problem.dst = {{ElementType::i32, testing::result_of(conv), Layout::plain}};
    const auto product = [&](size_t at_x, size_t at_w, int64_t channel) {
        const uint8_t zero = w_zero[conv.zero_per_channel ? static_cast<size_t>(channel) : 0];
        return (number(x[at_x], x_type) - number(x_zero[0], x_type)) * (number(w[at_w], w_type) - number(zero, w_type));
    };
    std::vector<int32_t> want;
    testing::for_each_sum(conv, product, [&](int64_t, int64_t sum) { want.push_back(static_cast<int32_t>(sum)); });
    testing::expect_all(test, want);
}

TEST(IntegerConv, IsExactOnOddShapes) {
    const std::vector<Conv> cases{
        {{1, 1, 5}, {1, 1, 3}, {1}, {1, 1}, {1}},
        {{2, 17, 70}, {24, 17, 3}, {2}, {3, 0}, {2}, 1, true},
        {{1, 3, 9, 11}, {33, 3, 3, 5}, {1, 2}, {1, 2, 0, 1}, {1, 1}},
        {{1, 24, 6, 6}, {24, 1, 3, 3}, {1, 1}, {1, 1, 1, 1}, {1, 1}, 24, true},
        {{2, 6, 4, 7}, {10, 3, 1, 1}, {1, 1}, {0, 0, 0, 0}, {1, 1}, 2},
        {{0, 2, 8}, {3, 2, 3}, {1}, {0, 0}, {1}},
    };
    for (const Conv& conv : cases)
        for (ElementType x : byte_types)
            for (ElementType w : byte_types) check(conv, x, w);
}

// The formula of ONNX in double, whose quotients round to those of f32.
void check_quantize(const std::vector<float>& x) {
    testing::KernelCase test;
    test.problem.op = "DynamicQuantizeLinear";
    test.add_src({ElementType::f32, Shape{static_cast<int64_t>(x.size())}, Layout::plain}, x);
    test.problem.dst = {{ElementType::u8, Shape{static_cast<int64_t>(x.size())}, Layout::plain},
                        {ElementType::f32, Shape{}, Layout::plain},
                        {ElementType::u8, Shape{}, Layout::plain}};
    double low = 0, high = 0;
    for (const double value : x) low = value < low ? value : low, high = value > high ? value : high;
    const float scale = static_cast<float>(high - low) / 255;
    const double divisor = scale == 0 ? 1 : scale;
    const auto rounded = [&](double value) -> double { return std::nearbyint(static_cast<float>(value / divisor)); };
    const double zero = std::clamp(rounded(-low), 0.0, 255.0);
    std::vector<uint8_t> want;
    for (const double value : x)
        want.push_back(std::isnan(value) ? 0 : static_cast<uint8_t>(std::clamp(rounded(value) + zero, 0.0, 255.0)));
    const auto kernels = testing::kernels_for(test.problem.op);
    ASSERT_FALSE(kernels.empty());
    for (const Kernel* kernel : kernels) {
        EXPECT_EQ(testing::run_kernel<uint8_t>(*kernel, test, 0), want) << kernel->name() << " of " << x.size();
        EXPECT_EQ(testing::run_kernel<float>(*kernel, test, 1), std::vector<float>{scale}) << kernel->name();
        EXPECT_EQ(testing::run_kernel<uint8_t>(*kernel, test, 2), std::vector<uint8_t>{static_cast<uint8_t>(zero)});
    }
}

TEST(DynamicQuantize, IsExactOnOddSizes) {
    for (const int64_t count : {0, 1, 3, 17, 24, 1000, 16384, 40001})
        for (const auto& [low, high] : {std::pair{-2.0F, 3.0F}, {0.5F, 1e6F}, {-7.0F, -1e-3F}})
            check_quantize(testing::random_floats(count, 5, low, high));
    check_quantize({0, -0.0F, 0});
    check_quantize({1, 2, 3, 4, 5, 6, 7, 8, std::numeric_limits<float>::quiet_NaN()});
    check_quantize({-1, 254, 0.5F, 1.5F, 2.5F, 100.5F});  // a scale of 1: ties
}

}  // namespace
}  // namespace headway
