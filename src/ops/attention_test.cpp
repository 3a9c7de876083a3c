#include "ops/testing.h"

// Values are small enough to be computed by hand: queries of zeros see the mean of the values of all keys.
namespace headway {
namespace {

using namespace testing;

const Tensor absent;

Tensor zeros(Shape shape) {
    std::vector<float> values(static_cast<size_t>(shape.elements()), 0.0F);
    return f32(std::move(shape), std::move(values));
}

TEST(Attention, HeadsOfQueriesShareKeysInBothLayouts) {
    const auto y =
        run_op("Attention", 23, {zeros({1, 4, 1, 1}), zeros({1, 2, 2, 1}), f32({1, 2, 2, 1}, {0, 2, 10, 30})});
    expect_values(y[0], {1, 4, 1, 1}, {1, 1, 20, 20});
    const auto packed = run_op("Attention", 23, {zeros({1, 1, 4}), zeros({1, 2, 2}), f32({1, 2, 2}, {0, 10, 2, 30})},
                               {{"q_num_heads", int64_t{4}}, {"kv_num_heads", int64_t{2}}});
    expect_values(packed[0], {1, 1, 4}, {1, 1, 20, 20});
}

TEST(Attention, CausalRowsSeeThePast) {
    const auto y = run_op("Attention", 23,
                          {zeros({1, 1, 2, 1}), f32({1, 1, 2, 1}, {1, 2}), f32({1, 1, 2, 1}, {6, 9}), absent,
                           f32({1, 1, 1, 1}, {4}), f32({1, 1, 1, 1}, {3})},
                          {{"is_causal", int64_t{1}}}, 3);
    expect_values(y[0], {1, 1, 2, 1}, {4.5, 6});
    expect_values(y[1], {1, 1, 3, 1}, {4, 1, 2});
    expect_values(y[2], {1, 1, 3, 1}, {3, 6, 9});
}

TEST(Attention, ShortMasksHideWhatTheyDoNotReach) {
    const Tensor q = zeros({1, 1, 2, 1});
    const Tensor k = zeros({1, 1, 3, 1});
    const Tensor v = f32({1, 1, 3, 1}, {1, 3, 100});
    const Tensor mask = of_type(ElementType::boolean, {2, 2}, {1, 1, 0, 1});
    expect_values(run_op("Attention", 24, {q, k, v, mask})[0], {1, 1, 2, 1}, {2, 3});
    EXPECT_THROW(run_op("Attention", 23, {q, k, v, mask}), UserError);
    EXPECT_THROW(run_op("Attention", 24, {q, k, v, zeros({2, 1})}), Unsupported);
    expect_values(run_op("Attention", 23, {q, k, v, f32({2, 1}, {0, -inf_f})})[0], {1, 1, 2, 1}, {104.0 / 3, nan_f});
    const auto padded = run_op("Attention", 24, {q, k, v, absent, absent, absent, i64({2})});
    expect_values(padded[0], {1, 1, 2, 1}, {2, 2});
    EXPECT_THROW(run_op("Attention", 23, {q, k, v, absent, absent, absent, i64({2})}), UserError);
}

TEST(Attention, ShowsTheScoresOfEachStage) {
    const std::vector<double> stages{6, 1.9901095, 0.9901095, 1};
    for (size_t stage = 0; stage < stages.size(); ++stage) {
        const auto y =
            run_op("Attention", 23,
                   {f32({1, 1, 1, 1}, {2}), f32({1, 1, 1, 1}, {3}), f32({1, 1, 1, 1}, {5}), f32({1, 1}, {-1})},
                   {{"scale", 1.0F}, {"softcap", 2.0F}, {"qk_matmul_output_mode", static_cast<int64_t>(stage)}}, 4);
        expect_values(y[0], {1, 1, 1, 1}, {5});
        expect_values(y[3], {1, 1, 1, 1}, {stages[stage]});
    }
}

TEST(Attention, RefusesWhatIsWrong) {
    const Tensor one = zeros({1, 1, 1, 1});
    const Tensor three = zeros({1, 3, 1, 1});
    const Tensor two = zeros({1, 2, 1, 1});
    EXPECT_THROW(run_op("Attention", 23, {three, two, two}), UserError);
    EXPECT_THROW(run_op("Attention", 23, {one, zeros({1, 1, 1, 2}), one}), UserError);
    EXPECT_THROW(run_op("Attention", 23, {zeros({1, 1, 4}), zeros({1, 1, 4}), zeros({1, 1, 4})}), UserError);
    EXPECT_THROW(run_op("Attention", 23, {one, one, one}, {{"scale", -1.0F}}), UserError);
    EXPECT_THROW(run_op("Attention", 23, {one, one, one}, {{"softcap", -1.0F}}), UserError);
    EXPECT_THROW(run_op("Attention", 23, {one, one, one}, {{"qk_matmul_output_mode", int64_t{4}}}), UserError);
    EXPECT_THROW(run_op("Attention", 23, {one, one, one}, {{"softmax_precision", int64_t{7}}}), UserError);
    EXPECT_THROW(run_op("Attention", 23, {one, one, one}, {{"q_num_heads", int64_t{2}}}), UserError);
    EXPECT_THROW(run_op("Attention", 23, {one, one, one, absent, one}), UserError);
    EXPECT_THROW(run_op("Attention", 23, {one, one, one, i64({1, 1}, {1})}), Unsupported);
}

TEST(RotaryEmbedding, TurnsPairs) {
    const Tensor x = ramp({1, 1, 1, 4}, 1);
    const Tensor cosines = f32({1, 1, 2}, {0, 1});
    const Tensor sines = f32({1, 1, 2}, {1, 0});
    expect_values(run_op("RotaryEmbedding", 23, {x, cosines, sines})[0], x.shape(), {-3, 2, 1, 4});
    expect_values(run_op("RotaryEmbedding", 23, {x, cosines, sines}, {{"interleaved", int64_t{1}}})[0], x.shape(),
                  {-2, 1, 3, 4});
    const auto partly = [&](int64_t position) {
        return run_op("RotaryEmbedding", 23, {x, f32({2, 1}, {1, 0}), f32({2, 1}, {0, 1}), i64({1, 1}, {position})},
                      {{"rotary_embedding_dim", int64_t{2}}})[0];
    };
    expect_values(partly(0), x.shape(), {1, 2, 3, 4});
    expect_values(partly(1), x.shape(), {-2, 1, 3, 4});
    EXPECT_THROW(partly(2), UserError);
    EXPECT_THROW(run_op("RotaryEmbedding", 23, {ramp({1, 1, 4}), cosines, sines}), UserError);
    EXPECT_THROW(run_op("RotaryEmbedding", 23, {ramp({1, 1, 1, 3}), zeros({1, 1, 1}), zeros({1, 1, 1})}), UserError);
}

TEST(LinearAttention, CorrectsADecayedState) {
    const NamedAttributes heads{{"q_num_heads", int64_t{1}}, {"kv_num_heads", int64_t{1}}};
    const float half = std::log(0.5F);
    const Tensor q = f32({1, 2, 1}, {1, 2});
    const Tensor k = f32({1, 2, 1}, {1, 1});
    const Tensor v = f32({1, 2, 1}, {4, 5});
    const auto y = run_op("LinearAttention", 27,
                          {q, k, v, absent, f32({1, 2, 1}, {half, half}), f32({1, 2, 1}, {0.5F, 0.5F})}, heads, 2);
    expect_values(y[0], {1, 2, 1}, {2, 6});
    expect_values(y[1], {1, 1, 1, 1}, {3});
    NamedAttributes linear = heads;
    linear.emplace_back("update_rule", std::string("linear"));
    const auto sums = run_op("LinearAttention", 27, {q, k, v, of_type(ElementType::f16, {1, 1, 1, 1}, {1})}, linear, 2);
    expect_values(sums[0], {1, 2, 1}, {5, 20});
    EXPECT_EQ(sums[1].type(), ElementType::f16);
    EXPECT_THROW(run_op("LinearAttention", 27, {q, k, v}, heads, 2), UserError);
    EXPECT_THROW(run_op("LinearAttention", 27, {q, k, v, absent, absent, k}, linear, 2), UserError);
}

TEST(CausalConv, StateHoldsTheLastElements) {
    const Tensor x = ramp({1, 1, 3}, 1);
    const Tensor weight = f32({1, 1, 2}, {10, 1});
    const auto y = run_op("CausalConvWithState", 27, {x, weight, absent, f32({1, 1, 1}, {5})}, {}, 2);
    expect_values(y[0], {1, 1, 3}, {51, 12, 23});
    expect_values(y[1], {1, 1, 1}, {3});
    const auto next = run_op("CausalConvWithState", 27, {f32({1, 1, 1}, {7}), f32({1, 1, 3}, {0, 0, 1})}, {}, 2);
    expect_values(next[0], {1, 1, 1}, {7});
    expect_values(next[1], {1, 1, 2}, {0, 7});
    EXPECT_THROW(run_op("CausalConvWithState", 27, {x, weight}, {{"activation", std::string("relu")}}, 2), UserError);
    EXPECT_THROW(run_op("CausalConvWithState", 27, {x, f32({1, 1, 0}, {})}, {}, 2), UserError);
}

TEST(TensorScatter, WritesEachImageWhereItsIndexSays) {
    const Tensor cache = f32({2, 3, 1}, {-1, -1, -1, -1, -1, -1});
    const Tensor update = ramp({2, 2, 1}, 1);
    expect_values(run_op("TensorScatter", 24, {cache, update, i64({1, 0})})[0], {2, 3, 1}, {-1, 1, 2, 3, 4, -1});
    const NamedAttributes circular{{"mode", std::string("circular")}};
    expect_values(run_op("TensorScatter", 24, {cache, update, i64({2, -1})}, circular)[0], {2, 3, 1},
                  {2, -1, 1, 4, -1, 3});
    EXPECT_THROW(run_op("TensorScatter", 24, {cache, update, i64({2, 0})}), UserError);
    EXPECT_THROW(run_op("TensorScatter", 24, {cache, update, i64({-1, 0})}), UserError);
    EXPECT_THROW(run_op("TensorScatter", 24, {cache, update}, {{"axis", int64_t{0}}}), UserError);
    EXPECT_THROW(run_op("TensorScatter", 24, {update, cache}), UserError);
}

}  // namespace
}  // namespace headway
