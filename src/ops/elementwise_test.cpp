#include "ops/testing.h"

namespace headway {
namespace {

using namespace testing;

TEST(Elementwise, BroadcastsBothWays) {
    const auto y = run_op("Add", 14, {f32({2, 1}, {1, 2}), f32({3}, {10, 20, 30})});
    expect_values(y[0], {2, 3}, {11, 21, 31, 12, 22, 32});
}

TEST(Elementwise, ZeroSizeBroadcasts) {
    const auto y = run_op("Mul", 14, {f32({0, 3}, {}), f32({1, 3}, {1, 2, 3})});
    expect_values(y[0], {0, 3}, {});
}

TEST(Elementwise, ScalarOperands) { expect_values(run_op("Sub", 14, {f32({}, {3}), f32({}, {5})})[0], {}, {-2}); }

TEST(Elementwise, IntegersWrapAndDivideTowardsZero) {
    const auto sum =
        run_op("Add", 14, {of_type(ElementType::i8, {2}, {127, -128}), of_type(ElementType::i8, {2}, {1, -1})});
    expect_values(sum[0], {2}, {-128, 127});
    const auto quotient = run_op("Div", 14, {i64({-7, 7}), i64({2, -2})});
    expect_values(quotient[0], {2}, {-3, -3});
    const auto lowest = std::numeric_limits<int64_t>::min();
    EXPECT_EQ(run_op("Div", 14, {i64({lowest}), i64({-1})})[0].data<int64_t>()[0], lowest);
    EXPECT_THROW(run_op("Div", 14, {i64({1}), i64({0})}), UserError);
}

TEST(Elementwise, LargeIntegersAreExact) {
    const int64_t big = (int64_t{1} << 62) + 1;
    EXPECT_EQ(run_op("Sub", 14, {i64({big}), i64({1})})[0].data<int64_t>()[0], big - 1);
}

TEST(Elementwise, NanPropagatesThroughMaxMinRelu) {
    const auto a = f32({4}, {nan_f, 1, -1, nan_f});
    const auto b = f32({4}, {0, nan_f, 2, nan_f});
    expect_values(run_op("Max", 13, {a, b})[0], {4}, {NAN, NAN, 2, NAN});
    expect_values(run_op("Min", 13, {a, b})[0], {4}, {NAN, NAN, -1, NAN});
    expect_values(run_op("Relu", 14, {a})[0], {4}, {NAN, 1, 0, NAN});
}

TEST(Elementwise, VariadicBroadcasts) {
    const auto y = run_op("Max", 13, {f32({3}, {1, 5, 2}), f32({2, 1}, {3, 0}), f32({}, {2.5})});
    expect_values(y[0], {2, 3}, {3, 5, 3, 2.5, 5, 2.5});
    expect_values(run_op("Mean", 13, {f32({2}, {1, 2}), f32({2}, {3, 5})})[0], {2}, {2, 3.5});
}

TEST(Elementwise, UnaryValues) {
    const auto x = f32({5}, {-2, -0.5, 0, 0.5, 3});
    expect_values(run_op("Sigmoid", 13, {x})[0], {5}, {0.11920292, 0.37754067, 0.5, 0.62245933, 0.95257413});
    expect_values(run_op("Erf", 13, {x})[0], {5}, {-0.99532227, -0.52049988, 0, 0.52049988, 0.99997791});
    expect_values(run_op("Softplus", 1, {x})[0], {5}, {0.12692801, 0.47407698, 0.69314718, 0.97407698, 3.04858735});
    expect_values(run_op("HardSigmoid", 6, {x})[0], {5}, {0.1, 0.4, 0.5, 0.6, 1});
    expect_values(run_op("HardSwish", 14, {x})[0], {5}, {-0.33333333, -0.20833333, 0, 0.29166667, 3});
    expect_values(run_op("LeakyRelu", 16, {x}, {{"alpha", 0.1F}})[0], {5}, {-0.2, -0.05, 0, 0.5, 3});
    expect_values(run_op("Elu", 6, {x}, {{"alpha", 2.0F}})[0], {5}, {-1.72932943, -0.78693868, 0, 0.5, 3});
    expect_values(run_op("Gelu", 20, {x})[0], {5}, {-0.04550026, -0.15426877, 0, 0.34573123, 2.99595031});
    expect_values(run_op("Gelu", 20, {x}, {{"approximate", std::string("tanh")}})[0], {5},
                  {-0.04540231, -0.15428599, 0, 0.34571401, 2.99636261});
}

TEST(Elementwise, RoundsTiesToEven) {
    expect_values(run_op("Round", 11, {f32({6}, {0.5, 1.5, 2.5, -0.5, -1.5, 2.4})})[0], {6}, {0, 2, 2, 0, -2, 2});
}

TEST(Elementwise, HalfTypes) {
    const auto y = run_op("Add", 14, {of_type(ElementType::f16, {1}, {1.5}), of_type(ElementType::f16, {1}, {0.25})});
    EXPECT_EQ(y[0].type(), ElementType::f16);
    expect_values(y[0], {1}, {1.75});
}

TEST(Elementwise, ComparisonsAreFalseForNan) {
    const auto a = f32({3}, {1, nan_f, 3});
    const auto b = f32({3}, {1, nan_f, 2});
    expect_values(run_op("Equal", 13, {a, b})[0], {3}, {1, 0, 0});
    expect_values(run_op("GreaterOrEqual", 16, {a, b})[0], {3}, {1, 0, 1});
}

TEST(Elementwise, RefusesWhatIsWrong) {
    EXPECT_THROW(run_op("Add", 14, {f32({2}, {1, 2}), f32({3}, {1, 2, 3})}), UserError);
    EXPECT_THROW(run_op("Add", 14, {f32({1}, {1}), i64({1})}), UserError);
    EXPECT_THROW(run_op("Add", 14, {f32({1}, {1})}), UserError);
    EXPECT_THROW(run_op("Sqrt", 13, {i64({1})}), Unsupported);
    EXPECT_THROW(run_op("Mod", 6, {f32({1}, {1}), f32({1}, {1})}), Unsupported);
    EXPECT_THROW(run_op("NoSuchOperator", 14, {f32({1}, {1})}), Unsupported);
}

TEST(Elementwise, AttributeBoundsOfClipFitIntegers) {
    const auto clip = [](float low, float high) {
        return run_op("Clip", 6, {i64({-5, 0, 5})}, {{"min", low}, {"max", high}})[0].to_int64();
    };
    EXPECT_EQ(clip(-1e30F, 1e30F), (std::vector<int64_t>{-5, 0, 5}));
    EXPECT_EQ(clip(-2, 3), (std::vector<int64_t>{-2, 0, 3}));
    EXPECT_EQ(clip(-1e30F, std::nanf("")), (std::vector<int64_t>{-5, 0, 0}));  // as Cast takes NaN
}

}  // namespace
}  // namespace headway
