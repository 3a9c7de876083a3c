#include "tensor/tensor.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "tensor/attributes.h"
#include "tensor/random.h"

namespace headway {
namespace {

TEST(Tensors, StartAsAlignedZeros) {
    const Tensor tensor(ElementType::f32, Shape{3, 5});
    EXPECT_EQ(reinterpret_cast<uintptr_t>(tensor.bytes().data()) % 64, 0U);
    for (const float value : tensor.data<float>()) EXPECT_EQ(value, 0);
    EXPECT_EQ(Tensor(ElementType::i64, Shape{2, 0}).size_bytes(), 0U);
    EXPECT_EQ(Tensor(ElementType::u8, Shape{}).size_bytes(), 1U);
}

TEST(Tensors, LimitsComeBeforeMemory) {
    EXPECT_THROW(Tensor(ElementType::f32, Shape{1000}, 3999), UserError);
    EXPECT_THROW(Tensor(ElementType::f32, Shape{int64_t{1} << 50}), UserError);
    EXPECT_THROW(Tensor(ElementType::f32, Shape{int64_t{1} << 50, int64_t{1} << 50}), UserError);
}

TEST(Tensors, ValuesAreRoundedAndSaturated) {
    Tensor bytes(ElementType::i8, Shape{4});
    bytes.set(0, 300);
    bytes.set(1, -300);
    bytes.set(2, -1.9);
    bytes.set(3, std::nan(""));
    EXPECT_EQ(bytes.to_int64(), (std::vector<int64_t>{127, -128, -1, 0}));
    Tensor large(ElementType::u64, Shape{2});
    large.set(0, 1e30);
    large.set(1, -1);
    EXPECT_EQ(large.data<uint64_t>()[0], std::numeric_limits<uint64_t>::max());
    EXPECT_EQ(large.data<uint64_t>()[1], 0U);
    Tensor flags(ElementType::boolean, Shape{2});
    flags.set(0, 0.5);
    EXPECT_EQ(flags.to_int64(), (std::vector<int64_t>{1, 0}));
    Tensor half(ElementType::f16, Shape{1});
    half.set(0, 1.0 / 3);
    EXPECT_EQ(half.half_bits()[0], 0x3555);
}

TEST(Tensors, ViewsKeepTheirOwnerAndCannotBeWritten) {
    auto owner = std::make_shared<std::vector<float>>(std::vector<float>{1, 2});
    const std::weak_ptr<const void> watch = owner;
    Tensor view(ElementType::f32, Shape{2}, std::as_bytes(std::span(*owner)), owner);
    owner.reset();
    EXPECT_FALSE(watch.expired());
    EXPECT_EQ(view.at(1), 2);
    EXPECT_THROW(view.mutable_bytes(), InternalError);
    EXPECT_THROW(view.data<int32_t>(), InternalError);
    const Tensor reshaped = view.reshaped(Shape{2, 1});
    view = Tensor();
    EXPECT_EQ(reshaped.at(0), 1);
    EXPECT_THROW(reshaped.reshaped(Shape{3}), InternalError);
}

TEST(Tensors, HashCoversTypeShapeAndBytes) {
    const Tensor tensor = random_tensor(ElementType::f32, Shape{2, 3}, 1);
    EXPECT_EQ(tensor.hash(), random_tensor(ElementType::f32, Shape{2, 3}, 1).hash());
    EXPECT_NE(tensor.hash(), tensor.reshaped(Shape{3, 2}).hash());
    EXPECT_NE(tensor.hash(), random_tensor(ElementType::f32, Shape{2, 3}, 2).hash());
    EXPECT_NE(Tensor(ElementType::i32, Shape{2}).hash(), Tensor(ElementType::u32, Shape{2}).hash());
}

TEST(RandomTensors, HaveTheirMomentsAndRanges) {
    const Tensor tensor = random_tensor(ElementType::f32, Shape{10000}, 3, 2);
    double sum = 0, squares = 0;
    for (const float value : tensor.data<float>()) sum += value, squares += double{value} * value;
    EXPECT_NEAR(sum / 10000, 0, 0.1);
    EXPECT_NEAR(squares / 10000, 4, 0.2);
    for (const int64_t value : random_tensor(ElementType::i32, Shape{100}, 1).to_int64()) EXPECT_LE(std::abs(value), 4);
    for (const int64_t value : random_tensor(ElementType::u8, Shape{100}, 1).to_int64()) EXPECT_LT(value, 8);
}

TEST(AttributeValues, HaveOneTypeEach) {
    Attributes attributes;
    attributes.set("axis", int64_t{-1});
    attributes.set("pads", std::vector<int64_t>{1, 2});
    EXPECT_EQ(attributes.integer("axis", 0), -1);
    EXPECT_EQ(attributes.integer("absent", 7), 7);
    EXPECT_EQ(attributes.integers("pads"), (std::vector<int64_t>{1, 2}));
    EXPECT_EQ(attributes.tensor("absent"), nullptr);
    EXPECT_THROW(attributes.real("axis", 0), UserError);
    attributes.erase("axis");
    EXPECT_FALSE(attributes.has("axis"));
}

}  // namespace
}  // namespace headway
