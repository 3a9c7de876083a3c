// Forms of operators of opset 6 and older, by hand-computed values.
#include "ops/testing.h"

namespace headway {
namespace {

using namespace testing;

TEST(LegacyBroadcast, LaysTheSecondOperandAlongTheFirst) {
    const Tensor x = ramp({2, 3, 2}, 1);
    const auto sum = [&](const Tensor& y, const NamedAttributes& attributes) {
        return run_op("Add", 6, {x, y}, attributes)[0];
    };
    expect_values(sum(f32({3}, {10, 20, 30}), {{"broadcast", int64_t{1}}, {"axis", int64_t{1}}}), {2, 3, 2},
                  {11, 12, 23, 24, 35, 36, 17, 18, 29, 30, 41, 42});
    expect_values(sum(f32({2}, {10, 20}), {{"broadcast", int64_t{1}}}), {2, 3, 2},
                  {11, 22, 13, 24, 15, 26, 17, 28, 19, 30, 21, 32});
    expect_values(sum(f32({2}, {10, 20}), {{"broadcast", int64_t{1}}, {"axis", int64_t{0}}}), {2, 3, 2},
                  {11, 12, 13, 14, 15, 16, 27, 28, 29, 30, 31, 32});
    expect_values(sum(f32({2, 1}, {10, 20}), {{"broadcast", int64_t{1}}, {"axis", int64_t{0}}}), {2, 3, 2},
                  {11, 12, 13, 14, 15, 16, 27, 28, 29, 30, 31, 32});
    expect_values(sum(f32({}, {10}), {{"broadcast", int64_t{1}}}), {2, 3, 2},
                  {11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22});
    EXPECT_THROW(sum(f32({3}, {1, 2, 3}), {{"broadcast", int64_t{1}}}), UserError);
    EXPECT_THROW(sum(f32({2}, {1, 2}), {}), UserError) << "without broadcast the shapes are equal";
    EXPECT_THROW(sum(f32({2, 2}, {1, 2, 3, 4}), {{"broadcast", int64_t{1}}, {"axis", int64_t{2}}}), UserError);
    EXPECT_THROW(sum(f32({2}, {1, 2}), {{"broadcast", int64_t{1}}, {"axis", INT64_MIN}}), UserError);
    EXPECT_THROW(run_op("Add", 6, {f32({1}, {1}), x}, {{"broadcast", int64_t{1}}}), UserError) << "only the second";
}

TEST(LegacyBroadcast, HoldsForEveryOperatorOfTwoInputs) {
    const NamedAttributes along{{"broadcast", int64_t{1}}, {"axis", int64_t{0}}};
    const Tensor x = f32({2, 2}, {1, 2, 3, 4});
    const Tensor y = f32({2}, {2, 3});
    expect_values(run_op("Sub", 6, {x, y}, along)[0], {2, 2}, {-1, 0, 0, 1});
    expect_values(run_op("Mul", 6, {x, y}, along)[0], {2, 2}, {2, 4, 9, 12});
    expect_values(run_op("Div", 1, {x, y}, along)[0], {2, 2}, {0.5, 1, 1, 4.0 / 3});
    expect_values(run_op("Pow", 1, {x, y}, along)[0], {2, 2}, {1, 4, 27, 64});
    expect_values(run_op("Less", 1, {x, y}, along)[0], {2, 2}, {1, 0, 0, 0});
    expect_values(run_op("Greater", 1, {x, y}, along)[0], {2, 2}, {0, 0, 0, 1});
    const Tensor whole = of_type(ElementType::i32, {2, 2}, {1, 2, 3, 4});
    expect_values(run_op("Equal", 1, {whole, of_type(ElementType::i32, {2}, {2, 3})}, along)[0], {2, 2}, {0, 1, 1, 0});
    const Tensor a = of_type(ElementType::boolean, {2, 2}, {0, 1, 0, 1});
    const Tensor b = of_type(ElementType::boolean, {2}, {0, 1});
    expect_values(run_op("And", 1, {a, b}, along)[0], {2, 2}, {0, 0, 0, 1});
    expect_values(run_op("Or", 1, {a, b}, along)[0], {2, 2}, {0, 1, 1, 1});
    expect_values(run_op("Xor", 1, {a, b}, along)[0], {2, 2}, {0, 1, 1, 0});
}

TEST(LegacyBroadcast, PReluLaysItsSlopeAlongTheChannels) {
    const Tensor x = f32({1, 2, 2}, {-1, 1, -2, -3});
    expect_values(run_op("PRelu", 6, {x, f32({2}, {10, 100})})[0], {1, 2, 2}, {-10, 1, -200, -300});
    expect_values(run_op("PRelu", 6, {x, f32({1}, {10})})[0], {1, 2, 2}, {-10, 1, -20, -30});
    expect_values(run_op("PRelu", 7, {x, f32({2}, {10, 100})})[0], {1, 2, 2}, {-10, 1, -20, -300});
}

TEST(LegacyForms, AttributesHaveTheirOldNamesAndDefaults) {
    expect_values(run_op("Concat", 1, {f32({1, 1}, {1}), f32({1, 1}, {2})})[0], {1, 2}, {1, 2});
    EXPECT_THROW(run_op("Concat", 4, {f32({1, 1}, {1})}), UserError);
    expect_values(run_op("Pad", 1, {f32({1}, {5})}, {{"paddings", ints({1, 0})}, {"value", 7.0F}})[0], {2}, {7, 5});
    const std::vector<Tensor> statistics{f32({1, 1}, {3}), f32({1}, {2}), f32({1}, {1}), f32({1}, {1}), f32({1}, {4})};
    expect_values(run_op("BatchNormalization", 6, statistics, {{"is_test", int64_t{1}}, {"epsilon", 0.0F}})[0], {1, 1},
                  {3});
    EXPECT_THROW(run_op("BatchNormalization", 6, statistics), Unsupported) << "training by default";
    expect_values(
        run_op("Gemm", 6, {f32({1, 1}, {2}), f32({1, 2}, {3, 4}), f32({2}, {1, 1})}, {{"broadcast", int64_t{1}}})[0],
        {1, 2}, {7, 9});
}

}  // namespace
}  // namespace headway
