// QuantizeLinear and DequantizeLinear against ONNX's formulas in double: exact on every instruction set.
#include "kernels/cpu/integer/linear_quantize.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/kernel_testing.h"

namespace headway {
namespace {

const Kernel quantize_emulated512{linear_quantize_fields("emulated512", Isa::avx2, emulated512::quantize_ops)};
const Kernel dequantize_emulated512{linear_dequantize_fields("emulated512", Isa::avx2, emulated512::quantize_ops)};

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

struct Scales {
    Shape shape;  // {} or one extent
    int64_t axis = 0;
    bool has_zero = true, constant = true;
};

int64_t entry_of(const Scales& scales, const std::vector<int64_t>& index) {
    return scales.shape.elements() == 1 ? 0 : index[static_cast<size_t>(scales.axis)];
}

double low_of(ElementType type) { return type == ElementType::u8 ? 0 : -128; }

struct Parameters {
    std::vector<float> scale;
    std::vector<uint8_t> zero;

    double zero_at(ElementType type, int64_t k) const {
        const uint8_t bits = zero[static_cast<size_t>(k)];
        return type == ElementType::u8 ? bits : static_cast<int8_t>(bits);
    }
};

Parameters parameters_of(const Scales& scales, ElementType type) {
    Parameters parameters;
    for (int64_t k = 0; k < scales.shape.elements(); ++k) {
        parameters.scale.push_back(0.03F + 0.01F * static_cast<float>(k % 7));
        const int64_t zero = type == ElementType::u8 ? 128 + k % 5 : k % 9 - 4;
        parameters.zero.push_back(static_cast<uint8_t>(scales.has_zero ? zero : 0));
    }
    return parameters;
}

void add_parameters(testing::KernelCase& test, const Scales& scales, ElementType type, const Parameters& parameters) {
    test.problem.attributes.set("axis", scales.axis);
    test.add_src({ElementType::f32, scales.shape, Layout::plain}, parameters.scale, scales.constant);
    if (scales.has_zero)
        test.add_src({type, scales.shape, Layout::plain}, parameters.zero, scales.constant);
    else
        test.add_absent();
}

void check(const Shape& shape, const Scales& scales, ElementType type, Layout layout) {
    const Parameters parameters = parameters_of(scales, type);
    // Ties, ends of the range, what has no integer.
    std::vector<float> x = testing::random_floats(shape.elements(), 3, -9, 9);
    const float special[] = {0.5F * parameters.scale[0],
                             1.5F * parameters.scale[0],
                             -2.5F * parameters.scale[0],
                             infinity,
                             -infinity,
                             nan,
                             1e30F,
                             -0.0F};
    for (size_t i = 0; i < x.size() && i < std::size(special); ++i) x[x.size() - 1 - i] = special[i];
    testing::KernelCase forwards, backwards;
    forwards.problem.op = "QuantizeLinear";
    backwards.problem.op = "DequantizeLinear";
    forwards.problem.dst = {{type, shape, layout}};
    backwards.problem.dst = {{ElementType::f32, shape, layout}};
    std::vector<uint8_t> bytes;
    std::vector<float> numbers;
    testing::for_each_index(shape, [&](const std::vector<int64_t>& index, int64_t at) {
        const int64_t k = entry_of(scales, index);
        const float scale = parameters.scale[static_cast<size_t>(k)];
        const double zero = parameters.zero_at(type, k);
        const double steps = std::nearbyint(x[static_cast<size_t>(at)] / scale) + zero;
        const double kept = std::isnan(steps) ? 0 : std::clamp(steps, low_of(type), low_of(type) + 255);
        bytes.push_back(static_cast<uint8_t>(static_cast<int64_t>(kept)));
        numbers.push_back(static_cast<float>((kept - zero) * scale));
    });
    forwards.add_src({ElementType::f32, shape, layout}, x);
    backwards.add_src({type, shape, layout}, bytes);
    add_parameters(forwards, scales, type, parameters);
    add_parameters(backwards, scales, type, parameters);
    testing::expect_all(forwards, bytes);
    testing::expect_all(backwards, numbers);
}

TEST(LinearQuantize, IsExactOnOddShapes) {
    const std::vector<std::pair<Shape, Scales>> cases{
        {{}, {}},
        {{1}, {}},
        {{17}, {{}, 0, false}},
        {{3, 24}, {Shape{1}, 1, true, false}},
        {{0, 5}, {}},
        {{40001}, {}},
        {{3, 17, 5}, {Shape{17}, 1}},
        {{3, 17, 5}, {Shape{17}, 1, true, false}},
        {{2, 5, 24}, {Shape{24}, 2}},
        {{700, 33}, {Shape{33}, 1, false}},
        {{24, 1000}, {Shape{24}, 0}},
        {{0, 5}, {Shape{5}, 1}},
    };
    for (const auto& [shape, scales] : cases)
        for (ElementType type : {ElementType::u8, ElementType::i8}) check(shape, scales, type, Layout::plain);
}

TEST(LinearQuantize, KeepsChannelLayouts) {
    for (ElementType type : {ElementType::u8, ElementType::i8}) {
        for (int64_t channels : {1, 3, 17, 24}) {
            check({2, channels, 5, 3}, {}, type, Layout::nhwc);
            check({2, channels, 5, 3}, {Shape{channels}, 1}, type, Layout::nhwc);
        }
        check({2, 24, 5, 3}, {}, type, Layout::nchw8c);
        check({2, 32, 5, 3}, {}, type, Layout::nchw16c);
    }
}

template <class T>
void check_wide(const Shape& shape, const Scales& scales, ElementType type) {
    std::mt19937 generator(1);
    std::vector<T> x, zeros;
    for (int64_t i = 0; i < shape.elements(); ++i) x.push_back(static_cast<T>(generator()));
    std::vector<float> scale;
    for (int64_t k = 0; k < scales.shape.elements(); ++k) {
        scale.push_back(0.03F + 0.01F * static_cast<float>(k % 7));
        zeros.push_back(static_cast<T>(type == ElementType::i32 ? 0 : 70000 - 7 * k));
    }
    testing::KernelCase test;
    test.problem.op = "DequantizeLinear";
    test.problem.attributes.set("axis", scales.axis);
    test.add_src({type, shape, Layout::plain}, x);
    test.add_src({ElementType::f32, scales.shape, Layout::plain}, scale, scales.constant);
    if (scales.has_zero) test.add_src({type, scales.shape, Layout::plain}, zeros, true);
    if (scales.has_zero && type == ElementType::i32)
        test.problem.attributes.set("src2", std::vector<int64_t>(zeros.size(), 0));
    test.problem.dst = {{ElementType::f32, shape, Layout::plain}};
    std::vector<float> want;
    testing::for_each_index(shape, [&](const std::vector<int64_t>& index, int64_t at) {
        const auto k = static_cast<size_t>(entry_of(scales, index));
        const double zero = scales.has_zero ? static_cast<double>(zeros[k]) : 0;
        want.push_back(static_cast<float>((static_cast<double>(x[static_cast<size_t>(at)]) - zero) * scale[k]));
    });
    testing::expect_all(test, want);
}

TEST(LinearQuantize, DequantizesWiderIntegers) {
    const std::vector<std::pair<Shape, Scales>> cases{
        {{}, {}},
        {{17}, {{}, 0, false}},
        {{0, 5}, {}},
        {{20001}, {}},
        {{3, 17, 5}, {Shape{17}, 1}},
        {{2, 5, 24}, {Shape{24}, 2, true, false}},
        {{24, 1000}, {Shape{24}, 0, false}},
    };
    for (const auto& [shape, scales] : cases) {
        check_wide<uint16_t>(shape, scales, ElementType::u16);
        check_wide<int16_t>(shape, scales, ElementType::i16);
        check_wide<int32_t>(shape, scales, ElementType::i32);
    }
}

TEST(LinearQuantize, RefusesPaddedChannels) {
    testing::KernelCase test;
    test.problem.op = "QuantizeLinear";
    test.add_src({ElementType::f32, {1, 17, 2, 2}, Layout::nchw8c}, std::vector<float>(68));
    test.add_src({ElementType::f32, {}, Layout::plain}, std::vector<float>{1}, true);
    test.problem.dst = {{ElementType::u8, {1, 17, 2, 2}, Layout::nchw8c}};
    for (const Kernel* kernel : testing::kernels_for("QuantizeLinear"))
        EXPECT_EQ(kernel->supports(test.problem, Target::native(), {}).reason, Reason::layout);
}

}  // namespace
}  // namespace headway
