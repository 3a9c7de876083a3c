#include "data/input_check.h"

#include <gtest/gtest.h>

#include "tensor/random.h"

namespace headway {
namespace {

Tensor filled(ElementType type, int64_t elements, double even, double odd) {
    Tensor tensor(type, Shape{elements});
    for (int64_t i = 0; i < elements; ++i) tensor.set(i, i % 2 == 0 ? even : odd);
    return tensor;
}

std::optional<std::string> check(const std::vector<Tensor>& tensors) {
    std::vector<PortSpec> ports;
    for (const Tensor& tensor : tensors) ports.push_back({"x" + std::to_string(ports.size()), tensor.type(), {}, {}});
    return too_uniform({"the sample", tensors, {}}, ports);
}

TEST(ByteHistogram, EntropyIsShannons) {
    EXPECT_EQ(byte_histogram(Tensor(ElementType::f32, Shape{100})).entropy, 0);
    EXPECT_EQ(byte_histogram(Tensor(ElementType::f32, Shape{0})).entropy, 0);
    Tensor bytes(ElementType::u8, Shape{256});
    for (int64_t i = 0; i < 256; ++i) bytes.set(i, static_cast<double>(i));
    EXPECT_NEAR(byte_histogram(bytes).entropy, 8, 1e-12);
    EXPECT_NEAR(byte_histogram(filled(ElementType::u8, 100, 3, 9)).entropy, 1, 1e-12);
}

// Pitfall: zeros, constants and two-valued inputs are too uniform in every type; normal values and images are not.
TEST(TooUniform, ZerosAndConstantsAreRefused) {
    for (const ElementType type : {ElementType::f16, ElementType::bf16, ElementType::f32, ElementType::f64}) {
        EXPECT_TRUE(check({filled(type, 1000, 0, 0)})) << to_string(type);
        EXPECT_TRUE(check({filled(type, 1000, 0.7123, 0.7123)})) << to_string(type);
        EXPECT_TRUE(check({filled(type, 1000, 0, 1)})) << to_string(type);
        EXPECT_FALSE(check({random_tensor(type, Shape{1000}, 1)})) << to_string(type);
    }
    Tensor image(ElementType::f32, Shape{3, 20, 20});
    for (int64_t i = 0; i < image.elements(); ++i) image.set(i, static_cast<double>(i * i % 256) / 255);
    EXPECT_FALSE(check({image}));
    for (int64_t i = 0; i < image.elements(); ++i) image.set(i, i % 5 == 0 ? static_cast<double>(i % 256) / 255 : 0);
    EXPECT_FALSE(check({image})) << "a digit on black";
    Tensor spot(ElementType::f32, Shape{100'000});
    for (int64_t i = 0; i < 20; ++i) spot.set(i, 1.0 / static_cast<double>(3 + i));
    EXPECT_TRUE(check({spot})) << "nearly all zero";
    EXPECT_EQ(check({Tensor(ElementType::f32, Shape{1000})}),
              "input x0 of the sample holds 0.0 bits of information per byte; real data give another speed");
}

TEST(TooUniform, OnlyTheMajorityOfTheFloatsCounts) {
    const Tensor state(ElementType::f32, Shape{100}), signal = random_tensor(ElementType::f32, Shape{500}, 1);
    EXPECT_FALSE(check({signal, state})) << "a state that starts at zero";
    EXPECT_TRUE(check({random_tensor(ElementType::f32, Shape{64}, 1), state}));
    EXPECT_FALSE(check({Tensor(ElementType::i64, Shape{1000})})) << "tokens may repeat";
    EXPECT_FALSE(check({Tensor(ElementType::f32, Shape{4})})) << "too small to judge";
    EXPECT_FALSE(check({}));
}

}  // namespace
}  // namespace headway
