#include "data/gate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "tensor/random.h"

namespace headway {
namespace {

Tensor scaled(const Tensor& tensor, double factor) {
    Tensor result(tensor.type(), tensor.shape());
    for (int64_t i = 0; i < tensor.elements(); ++i) result.set(i, tensor.at(i) * factor);
    return result;
}

GateResult judge_one(const Gate& gate, const Tensor& got, const Tensor& want) {
    const std::vector<std::string> names = {"y"};
    return judge(gate, names, std::span(&got, 1), std::span(&want, 1), "s");
}

TEST(Gate, DefaultsFollowTheElementType) {
    const Tensor want = random_tensor(ElementType::f32, Shape{1000}, 1);
    EXPECT_TRUE(judge_one({}, scaled(want, 1.0009), want).pass);
    EXPECT_FALSE(judge_one({}, scaled(want, 1.0011), want).pass);
    const Tensor half = random_tensor(ElementType::f16, Shape{1000}, 1);
    EXPECT_TRUE(judge_one({}, scaled(half, 1.003), half).pass);
    EXPECT_FALSE(judge_one({}, scaled(half, 1.01), half).pass);
    const Tensor ids = random_tensor(ElementType::i64, Shape{1000}, 1);
    Tensor off = scaled(ids, 1);
    EXPECT_TRUE(judge_one({}, off, ids).pass);
    off.set(3, off.at(3) + 1);
    EXPECT_FALSE(judge_one({}, off, ids).pass);
}

TEST(Gate, OneWrongElementInAMillionFails) {
    const Tensor want = random_tensor(ElementType::f32, Shape{1000000}, 1);
    Tensor got = scaled(want, 1);
    got.set(77, got.at(77) + 0.5);
    const GateResult result = judge_one({}, got, want);
    EXPECT_LT(result.outputs[0].difference.rel_l2, 1e-3);
    EXPECT_FALSE(result.pass);
    EXPECT_EQ(result.outputs[0].difference.worst, 77);
}

TEST(Gate, SpecialValuesMustStandAtTheSamePlaces) {
    const double nan = std::nan(""), inf = std::numeric_limits<double>::infinity();
    Tensor want = random_tensor(ElementType::f32, Shape{5}, 1);
    want.set(1, nan);
    want.set(2, inf);
    EXPECT_TRUE(judge_one({}, scaled(want, 1), want).pass);
    for (const auto& [index, value] :
         std::vector<std::pair<int64_t, double>>{{0, nan}, {1, 0}, {2, -inf}, {2, nan}, {3, inf}}) {
        Tensor got = scaled(want, 1);
        got.set(index, value);
        const GateResult result = judge_one(make_gate({.metric = {"cosine"}, .tolerance = {"-1"}}), got, want);
        EXPECT_FALSE(result.pass) << index << " " << value;
        EXPECT_EQ(result.outputs[0].difference.special, 1);
        EXPECT_EQ(result.outputs[0].difference.worst, index);
    }
}

TEST(Gate, OptionsMeanWhatTheySay) {
    const Tensor want = random_tensor(ElementType::f32, Shape{100}, 1);
    EXPECT_TRUE(judge_one(make_gate({.rtol = 0.02}), scaled(want, 1.01), want).pass);
    EXPECT_FALSE(judge_one(make_gate({.rtol = 0.005}), scaled(want, 1.01), want).pass);
    EXPECT_TRUE(judge_one(make_gate({.atol = 0.1}), scaled(want, 1.01), want).pass);
    EXPECT_TRUE(judge_one(make_gate({.tolerance = {"0.02"}}), scaled(want, 1.01), want).pass);
    EXPECT_TRUE(judge_one(make_gate({.metric = {"cosine"}}), scaled(want, 5), want).pass);
    EXPECT_FALSE(judge_one(make_gate({.metric = {"cosine"}}), scaled(want, -1), want).pass);
    EXPECT_TRUE(
        judge_one(make_gate({.metric = {"y=max_abs"}, .tolerance = {"y=10", "1e-9"}}), scaled(want, 2), want).pass);
    EXPECT_THROW(make_gate({.metric = {"rel_l3"}}), UserError);
    EXPECT_THROW(make_gate({.tolerance = {"much"}}), UserError);
    EXPECT_THROW(make_gate({.rtol = -1}), UserError);
    EXPECT_THROW(judge_one(make_gate({.metric = {"z=max_abs"}}), want, want), UserError);
}

TEST(Gate, AnotherShapeFailsAndSaysSo) {
    const GateResult result = judge_one({}, Tensor(ElementType::f32, Shape{2}), Tensor(ElementType::f32, Shape{3}));
    EXPECT_FALSE(result.pass);
    EXPECT_EQ(result.outputs[0].why, "f32 of shape 2 instead of f32 of shape 3 (s)");
    EXPECT_EQ(result.outputs[0].difference.mismatches, 3);
}

TEST(Gate, MergingKeepsTheWorst) {
    const Tensor want = random_tensor(ElementType::f32, Shape{100}, 1);
    GateResult all;
    all.merge(judge_one({}, scaled(want, 1.0001), want));
    all.merge(judge_one({}, scaled(want, 1.5), want));
    all.merge(judge_one({}, want, want));
    EXPECT_FALSE(all.pass);
    EXPECT_NEAR(all.outputs[0].difference.rel_l2, 0.5, 1e-6);
    EXPECT_EQ(all.outputs[0].difference.elements, 300);
    EXPECT_NE(all.outputs[0].why, "");
    EXPECT_GT(all.outputs[0].margin, 1);
}

TEST(Gate, JsonHasTheFieldsThatScriptsRelyOn) {
    const Tensor want = random_tensor(ElementType::f32, Shape{10}, 1);
    const nlohmann::json json = judge_one({}, want, want);
    EXPECT_EQ(json["pass"], true);
    for (const char* field : {"name", "max_abs", "rel_l2", "cosine", "mismatches", "pass"})
        EXPECT_TRUE(json["outputs"][0].contains(field)) << field;
    EXPECT_EQ(json["outputs"][0]["rel_l2"], 0);
    EXPECT_EQ(json["outputs"][0]["cosine"], 1);
}

}  // namespace
}  // namespace headway
