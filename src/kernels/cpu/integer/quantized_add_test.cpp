// QLinearAdd against ONNX Runtime's formula in double: with scales that are powers of two, exact everywhere.
#include "kernels/cpu/integer/quantized_add.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "kernels/cpu/integer/byte_testing.h"

namespace headway {
namespace {

const Kernel quantized_add_emulated512{quantized_add_fields("emulated512", Isa::avx2, emulated512::quantize_ops)};

using testing::number;

testing::KernelCase case_of(const Shape& shape, Layout layout, ElementType type, const std::vector<uint8_t>& a,
                            const std::vector<uint8_t>& b, bool has_y_zero) {
    testing::KernelCase test;
    test.problem.op = "com.microsoft/QLinearAdd";
    const auto add_parameters = [&](float scale, uint8_t zero) {
        test.add_src({ElementType::f32, {}, Layout::plain}, std::vector<float>{scale}, true);
        test.add_src({type, {}, Layout::plain}, std::vector<uint8_t>{zero}, true);
    };
    test.add_src({type, shape, layout}, a);
    add_parameters(0.5F, 3);
    test.add_src({type, shape, layout}, b);
    add_parameters(0.25F, 131);
    test.add_src({ElementType::f32, {}, Layout::plain}, std::vector<float>{0.5F}, true);
    if (has_y_zero) test.add_src({type, {}, Layout::plain}, std::vector<uint8_t>{100}, true);
    test.problem.dst = {{type, shape, layout}};
    return test;
}

void check(const Shape& shape, Layout layout, ElementType type, bool has_y_zero) {
    std::mt19937 generator(1);
    std::vector<uint8_t> a, b, want;
    for (int64_t i = 0; i < shape.elements(); ++i) {
        a.push_back(static_cast<uint8_t>(generator() >> 8));
        b.push_back(static_cast<uint8_t>(generator() >> 8));
        const double real = static_cast<double>(number(a.back(), type) - 3) * 0.5 +
                            static_cast<double>(number(b.back(), type) - number(131, type)) * 0.25;
        const double low = type == ElementType::u8 ? 0 : -128;
        const double steps = std::nearbyint(real / 0.5) + static_cast<double>(has_y_zero ? number(100, type) : 0);
        want.push_back(static_cast<uint8_t>(static_cast<int64_t>(std::clamp(steps, low, low + 255))));
    }
    const testing::KernelCase test = case_of(shape, layout, type, a, b, has_y_zero);
    testing::expect_all(test, want);
}

TEST(QuantizedAdd, IsExactOnOddShapes) {
    for (ElementType type : {ElementType::u8, ElementType::i8}) {
        for (const Shape& shape : {Shape{}, Shape{1}, Shape{17}, Shape{3, 24}, Shape{0, 5}, Shape{40001}})
            check(shape, Layout::plain, type, shape.rank() != 2);
        for (int64_t channels : {1, 3, 17, 24}) check({2, channels, 5, 3}, Layout::nhwc, type, true);
        check({2, 24, 5, 3}, Layout::nchw8c, type, true);
    }
}

TEST(QuantizedAdd, RefusesBroadcastsAndPaddedChannels) {
    const std::vector<uint8_t> some(68);
    testing::KernelCase padded = case_of({1, 17, 2, 2}, Layout::nchw8c, ElementType::u8, some, some, true);
    testing::KernelCase broadcast = case_of({1, 17, 2, 2}, Layout::plain, ElementType::u8, some, some, true);
    broadcast.problem.src[3]->shape = {17, 1, 1};
    for (const Kernel* kernel : testing::kernels_for("com.microsoft/QLinearAdd")) {
        EXPECT_EQ(kernel->supports(padded.problem, Target::native(), {}).reason, Reason::layout);
        EXPECT_EQ(kernel->supports(broadcast.problem, Target::native(), {}).reason, Reason::shape);
    }
}

}  // namespace
}  // namespace headway
