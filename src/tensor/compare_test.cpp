#include "tensor/compare.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"

namespace headway {
namespace {

TEST(Compare, NumbersAreWhatTheirNamesSay) {
    const std::vector<float> want = {3, 0, -4}, got = {3, 1, -6};
    const Difference difference =
        compare_tensors(Tensor::of<float>(Shape{3}, got), Tensor::of<float>(Shape{3}, want), 0.1, 0.9);
    EXPECT_EQ(difference.elements, 3);
    EXPECT_DOUBLE_EQ(difference.max_abs, 2);
    EXPECT_DOUBLE_EQ(difference.max_rel, 0.5);
    EXPECT_DOUBLE_EQ(difference.rel_l2, std::sqrt(5.0) / 5);
    EXPECT_DOUBLE_EQ(difference.cosine, 33 / (5 * std::sqrt(46.0)));
    EXPECT_EQ(difference.mismatches, 2);
    EXPECT_EQ(difference.worst, 2);
}

TEST(Compare, RefusesOtherShapesAndTypes) {
    const Tensor a(ElementType::f32, Shape{2});
    EXPECT_THROW(compare_tensors(a, Tensor(ElementType::f32, Shape{2, 1}), 0, 0), UserError);
    EXPECT_THROW(compare_tensors(a, Tensor(ElementType::f64, Shape{2}), 0, 0), UserError);
}

TEST(Compare, ZerosHaveNoScaleOfTheirOwn) {
    const Tensor zeros(ElementType::f32, Shape{4});
    EXPECT_EQ(compare_tensors(zeros, zeros, 0, 0).rel_l2, 0);
    EXPECT_EQ(compare_tensors(zeros, zeros, 0, 0).cosine, 1);
    Tensor noise(ElementType::f32, Shape{4});
    noise.set(0, 1e-12);
    EXPECT_LT(compare_tensors(noise, zeros, 0, 0).rel_l2, 1e-5);
    EXPECT_EQ(compare_tensors(noise, zeros, 0, 0).cosine, 0);
    noise.set(0, 1);
    EXPECT_GT(compare_tensors(noise, zeros, 0, 0).rel_l2, 1e5);
    EXPECT_EQ(compare_tensors(Tensor(ElementType::f32, Shape{0}), Tensor(ElementType::f32, Shape{0}), 0, 0).mismatches,
              0);
}

TEST(Compare, LargeIntegersAreExact) {
    const std::vector<int64_t> a = {(int64_t{1} << 60) + 1}, b = {int64_t{1} << 60};
    EXPECT_EQ(compare_tensors(Tensor::of<int64_t>(Shape{1}, a), Tensor::of<int64_t>(Shape{1}, b), 0, 0).mismatches, 1);
}

}  // namespace
}  // namespace headway
