// Operators with random results: types, shapes, ranges, repetition, and moments within bounds that a sound generator
// leaves about once in a million seeds; the seeds here are fixed.
#include <algorithm>

#include "ops/testing.h"

namespace headway {
namespace {

using namespace testing;

struct Moments {
    double mean = 0, deviation = 0, least = inf_f, largest = -inf_f;
};

Moments moments_of(const Tensor& tensor) {
    Moments moments;
    const auto count = static_cast<double>(tensor.elements());
    double squares = 0;
    for (int64_t i = 0; i < tensor.elements(); ++i) {
        const double value = tensor.at(i);
        moments.mean += value / count;
        squares += value * value / count;
        moments.least = std::min(moments.least, value);
        moments.largest = std::max(moments.largest, value);
    }
    moments.deviation = std::sqrt(squares - moments.mean * moments.mean);
    return moments;
}

constexpr double many = 10000;

TEST(Random, UniformAndNormalHaveTheirMoments) {
    const NamedAttributes uniform{{"shape", ints({100, 100})}, {"low", -1.0F}, {"high", 3.0F}, {"seed", 5.0F}};
    const Tensor x = run_op("RandomUniform", 22, {}, uniform)[0];
    EXPECT_EQ(x.type(), ElementType::f32);
    EXPECT_EQ(x.shape().text(), "100x100");
    const Moments flat = moments_of(x);
    const double flat_deviation = 4 / std::sqrt(12.0);
    EXPECT_NEAR(flat.mean, 1, 5 * flat_deviation / std::sqrt(many));
    EXPECT_NEAR(flat.deviation, flat_deviation, 0.05);
    EXPECT_GE(flat.least, -1);
    EXPECT_LE(flat.largest, 3);

    const Tensor like = f32({100, 100}, std::vector<float>(static_cast<size_t>(many)));
    const Moments normal = moments_of(
        run_op("RandomNormalLike", 22, {like}, {{"mean", 2.0F}, {"scale", 3.0F}, {"dtype", int64_t{11}}})[0]);
    EXPECT_NEAR(normal.mean, 2, 5 * 3 / std::sqrt(many));
    EXPECT_NEAR(normal.deviation, 3, 5 * 3 / std::sqrt(2 * many));
    EXPECT_GT(normal.largest, 2 + 3 * 3) << "of 10000 normal draws some lie beyond three deviations";
}

TEST(Random, OneSeedRepeatsAndOthersDiffer) {
    const auto draw = [](float seed) {
        return run_op("RandomNormal", 22, {}, {{"shape", ints({8})}, {"seed", seed}})[0].hash();
    };
    EXPECT_EQ(draw(1), draw(1));
    EXPECT_NE(draw(1), draw(2));
    EXPECT_NE(draw(1), draw(1.5F));
    EXPECT_EQ(run_op("RandomNormal", 22, {}, {{"shape", ints({8})}})[0].hash(), draw(0));
}

TEST(Random, LikeTakesTypeAndShapeOfItsInput) {
    const Tensor x = of_type(ElementType::f16, {2, 0, 3}, {});
    const Tensor y = run_op("RandomUniformLike", 22, {x})[0];
    EXPECT_EQ(y.type(), ElementType::f16);
    EXPECT_EQ(y.shape(), x.shape());
    EXPECT_THROW(run_op("RandomUniformLike", 22, {i64({1})}), Unsupported) << "integers need a dtype";
    EXPECT_THROW(run_op("RandomUniform", 22, {}), UserError) << "no shape";
    EXPECT_THROW(run_op("RandomUniform", 22, {}, {{"shape", ints({-1})}}), UserError);
    EXPECT_THROW(run_op("RandomUniform", 22, {}, {{"shape", ints({int64_t{1} << 40})}}), UserError);
}

TEST(Bernoulli, DrawsOnesByTheirProbability) {
    std::vector<float> probabilities(static_cast<size_t>(many), 0.25F);
    probabilities[0] = 0;
    probabilities[1] = 1;
    const Shape shape{static_cast<int64_t>(many)};
    const Tensor y = run_op("Bernoulli", 22, {f32(shape, probabilities)}, {{"dtype", int64_t{9}}})[0];
    EXPECT_EQ(y.type(), ElementType::boolean);
    EXPECT_EQ(y.at(0), 0);
    EXPECT_EQ(y.at(1), 1);
    EXPECT_NEAR(moments_of(y).mean, 0.25, 5 * std::sqrt(0.25 * 0.75 / many));
    for (const float wrong : {-0.5F, 1.5F, nan_f})
        EXPECT_THROW(run_op("Bernoulli", 22, {f32({1}, {wrong})}), UserError) << wrong;
}

TEST(Multinomial, DrawsClassesByTheirLogarithms) {
    const float third = std::log(1.0F / 3);
    const Tensor x = f32({2, 3}, {third, 2 * third, -inf_f, 5, 5, 5 + std::log(2.0F)});  // 3 : 1 : 0 and 1 : 1 : 2
    const Tensor y = run_op("Multinomial", 22, {x}, {{"sample_size", int64_t{10000}}, {"dtype", int64_t{7}}})[0];
    EXPECT_EQ(y.type(), ElementType::i64);
    EXPECT_EQ(y.shape().text(), "2x10000");
    std::vector<double> shares(6, 0);
    for (int64_t i = 0; i < y.elements(); ++i)
        shares[static_cast<size_t>((i / 10000) * 3 + y.data<int64_t>()[static_cast<size_t>(i)])] += 1 / many;
    const std::vector<double> want{0.75, 0.25, 0, 0.25, 0.25, 0.5};
    for (size_t i = 0; i < want.size(); ++i)
        EXPECT_NEAR(shares[i], want[i], 5 * std::sqrt(want[i] * (1 - want[i]) / many)) << i;
    EXPECT_EQ(run_op("Multinomial", 22, {x})[0].shape().text(), "2x1");
    EXPECT_THROW(run_op("Multinomial", 22, {f32({1, 0}, {})}), UserError);
    EXPECT_THROW(run_op("Multinomial", 22, {f32({1, 2}, {-inf_f, -inf_f})}), UserError);
}

TEST(Dropout, DropsAtTrainingAndScalesTheRest) {
    const Tensor x = f32({static_cast<int64_t>(many)}, std::vector<float>(static_cast<size_t>(many), 3.0F));
    const Tensor trains = Tensor::scalar(true);
    auto y = run_op("Dropout", 13, {x, Tensor::scalar(0.25F), trains}, {{"seed", int64_t{3}}}, 2);
    EXPECT_EQ(y[1].type(), ElementType::boolean);
    for (int64_t i = 0; i < x.elements(); ++i) ASSERT_FLOAT_EQ(y[0].at(i), y[1].at(i) != 0 ? 4 : 0) << i;
    EXPECT_NEAR(moments_of(y[1]).mean, 0.75, 5 * std::sqrt(0.25 * 0.75 / many));
    y = run_op("Dropout", 13, {x, Tensor::scalar(0.0F), trains}, {}, 2);
    EXPECT_EQ(y[0].hash(), x.hash());
    EXPECT_EQ(moments_of(y[1]).least, 1);
    EXPECT_NEAR(moments_of(run_op("Dropout", 13, {x, {}, trains}, {}, 2)[1]).mean, 0.5, 5 * 0.5 / std::sqrt(many));
    EXPECT_EQ(run_op("Dropout", 13, {x, Tensor::scalar(0.9F), Tensor::scalar(false)})[0].hash(), x.hash());
    EXPECT_THROW(run_op("Dropout", 13, {x, Tensor::scalar(1.0F), trains}), UserError);
}

TEST(Dropout, OfOpset6TrainsUnlessItIsATest) {
    const Tensor x = f32({64}, std::vector<float>(64, 1.0F));
    EXPECT_EQ(run_op("Dropout", 6, {x}, {{"is_test", int64_t{1}}})[0].hash(), x.hash());
    EXPECT_NE(run_op("Dropout", 6, {x})[0].hash(), x.hash());
}

}  // namespace
}  // namespace headway
