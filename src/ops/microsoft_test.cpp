#include "ops/testing.h"

// Expected values were computed with numpy in double and agree with ONNX Runtime where it handles a case.
namespace headway {
namespace {

using namespace testing;

const Tensor absent;

TEST(MicrosoftGelu, Values) {
    {
        const auto y = run_op("com.microsoft/Gelu", 1, {f32({2, 3}, {0, 0.25F, -0.25F, -0.875F, -0.5F, -1})}, {}, 1);
        expect_values(y[0], {2, 3}, {0, 0.1496766, -0.1003234, -0.1669386, -0.1542688, -0.1586553});
    }
}

TEST(BiasGelu, Values) {
    {
        const auto y =
            run_op("com.microsoft/BiasGelu", 1,
                   {f32({2, 3}, {0, 0.25F, -0.25F, -0.875F, -0.5F, -1}), f32({3}, {0, 1.375F, -0.5F})}, {}, 1);
        expect_values(y[0], {2, 3}, {0, 1.540368, -0.1699705, -0.1669386, 0.7080614, -0.1002108});
    }
}

TEST(FastGelu, Values) {
    const Tensor operand_a = f32({2, 3}, {0, 0.25F, -0.25F, -0.875F, -0.5F, -1});
    {
        const auto y = run_op("com.microsoft/FastGelu", 1, {operand_a}, {}, 1);
        expect_values(y[0], {2, 3}, {0, 0.1496754, -0.1003246, -0.1670473, -0.154286, -0.158808});
    }
    {
        const auto y = run_op("com.microsoft/FastGelu", 1, {operand_a, f32({3}, {0, 1.375F, -0.5F})}, {}, 1);
        expect_values(y[0], {2, 3}, {0, 1.540195, -0.1700394, -0.1670473, 0.7079527, -0.1004284});
    }
}

TEST(QuickGelu, Values) {
    const Tensor operand_a = f32({2, 3}, {0, 0.25F, -0.25F, -0.875F, -0.5F, -1});
    {
        const auto y = run_op("com.microsoft/QuickGelu", 1, {operand_a}, {}, 1);
        expect_values(y[0], {2, 3}, {0, 0.1511996, -0.09880035, -0.16103, -0.1496116, -0.1542042});
    }
    {
        const auto y = run_op("com.microsoft/QuickGelu", 1, {operand_a}, {{"alpha", 0.5F}}, 1);
        expect_values(y[0], {2, 3}, {0, 0.1328023, -0.1171977, -0.3432947, -0.2189117, -0.3775407});
    }
}

TEST(LayerNormalization, OfOnnxRuntimeBeforeOpset17) {
    const auto y = run_op("LayerNormalization", 12, {f32({1, 2}, {1, 3}), f32({2}, {2, 3}), f32({2}, {0.5F, 0})},
                          {{"epsilon", 0.0F}});
    expect_values(y[0], {1, 2}, {-1.5, 3});
}

TEST(SkipLayerNormalization, NormalisesTheSum) {
    const Tensor operand_a =
        f32({2, 2, 3}, {-0.625F, 0.5F, 0.375F, 0.125F, -0.875F, 0, 0.75F, -1.375F, -0.5F, -1.875F, -1.25F, -1.875F});
    const Tensor operand_b = f32({2, 3}, {-1.25F, 0.125F, 1.375F, -1.5F, 0.875F, 0.125F});
    {
        const auto y =
            run_op("com.microsoft/SkipLayerNormalization", 1,
                   {operand_a,
                    f32({2, 2, 3}, {-0.25F, -1.25F, 0.25F, 0.125F, -0.125F, -2.5F, -0.5F, 0, 0.125F, -1.5F, -0.5F, -1}),
                    f32({3}, {-0.75F, 1, -0.75F}), f32({3}, {0, 0.875F, -0.625F}), f32({3}, {-0.125F, 0.125F, 0.125F})},
                   {{"epsilon", 0.001F}}, 4);
        expect_values(y[0], {2, 2, 3},
                      {0.7055342, 0.4323119, -1.66255, -0.8512593, 1.037145, 0.3478678, -0.7527394, -0.4870999,
                       -0.8938355, 0.8509462, 2.17168, -0.5034363});
        expect_values(y[3], {2, 2, 3},
                      {-1, -0.625, 0.75, 0.125, -0.875, -2.375, 0.125, -1.25, -0.25, -3.5, -1.625, -2.75});
    }
    {
        const auto y = run_op("com.microsoft/SkipLayerNormalization", 1,
                              {operand_a, operand_b, f32({3}, {-0.75F, 1, -0.75F})}, {}, 4);
        expect_values(y[0], {2, 2, 3},
                      {1.010745, 0.3025359, -0.7838431, 1.057665, 0.6131393, -0.5978109, 0.1775676, -1.089082,
                       -0.9943788, 0.9429834, 1.189348, -0.05097207});
        expect_values(y[1], {2, 2, 1}, {0.1666667, -0.4166667, -0.2916667, -1.833333});
        expect_values(y[2], {2, 2, 1}, {0.6600784, 1.471534, 1.136433, 0.8155532});
        expect_values(y[3], {2, 2, 3},
                      {-1.875, 0.625, 1.75, -1.375, 0, 0.125, -0.5, -1.25, 0.875, -3.375, -0.375, -1.75});
    }
    {
        const auto y = run_op("com.microsoft/SkipLayerNormalization", 1,
                              {operand_a, operand_b, f32({3}, {-0.75F, 1, -0.75F})}, {}, 1);
        expect_values(y[0], {2, 2, 3},
                      {1.010745, 0.3025359, -0.7838431, 1.057665, 0.6131393, -0.5978109, 0.1775676, -1.089082,
                       -0.9943788, 0.9429834, 1.189348, -0.05097207});
    }
}

TEST(SkipSimplifiedLayerNormalization, NormalisesTheSum) {
    {
        const auto y =
            run_op("com.microsoft/SkipSimplifiedLayerNormalization", 1,
                   {f32({2, 2, 3},
                        {-0.625F, 0.5F, 0.375F, 0.125F, -0.875F, 0, 0.75F, -1.375F, -0.5F, -1.875F, -1.25F, -1.875F}),
                    f32({2, 2, 3}, {-0.25F, -1.25F, 0.25F, 0.125F, -0.125F, -2.5F, -0.5F, 0, 0.125F, -1.5F, -0.5F, -1}),
                    f32({3}, {-0.75F, 1, -0.75F}), f32({3}, {-0.125F, 0.125F, 0.125F})},
                   {{"epsilon", 0.001F}}, 4);
        expect_values(y[0], {2, 2, 3},
                      {0.928803, -0.7740025, -0.6966022, -0.06406186, -0.5979107, 1.217175, -0.1266574, -1.688765,
                       0.2533148, 0.9594504, -0.5939455, 0.7538539});
        expect_values(y[3], {2, 2, 3},
                      {-1, -0.625, 0.75, 0.125, -0.875, -2.375, 0.125, -1.25, -0.25, -3.5, -1.625, -2.75});
    }
}

TEST(SimplifiedLayerNormalization, BothDomains) {
    const Tensor operand_a =
        f32({2, 2, 3}, {-0.625F, 0.5F, 0.375F, 0.125F, -0.875F, 0, 0.75F, -1.375F, -0.5F, -1.875F, -1.25F, -1.875F});
    {
        const auto y = run_op("SimplifiedLayerNormalization", 1, {operand_a, f32({3}, {-0.75F, 1, -0.75F})}, {}, 2);
        expect_values(y[0], {2, 2, 3},
                      {0.918541, 0.9797771, -0.5511246, -0.1837082, -1.71461, 0, -0.5925809, -1.448531, 0.395054,
                       0.8308661, -0.7385477, 0.8308661});
        expect_values(y[1], {2, 2, 1}, {1.959554, 1.959554, 1.053477, 0.5908381});
    }
    {
        const auto y =
            run_op("com.microsoft/SimplifiedLayerNormalization", 1,
                   {operand_a, f32({2, 3}, {-0.75F, 1, -0.75F, -0.75F, 1, -0.75F})}, {{"axis", int64_t{1}}}, 1);
        expect_values(y[0], {2, 2, 3},
                      {0.918541, 0.9797771, -0.5511246, -0.1837082, -1.71461, 0, -0.4099377, -1.00207, 0.2732918,
                       1.024844, -0.9109726, 1.024844});
    }
}

TEST(EmbedLayerNormalization, SumsTablesAndCountsTheMask) {
    const Tensor operand_a = of_type(ElementType::i32, {2, 2}, {1, 3, 0, 2});
    const Tensor operand_b =
        f32({4, 3}, {-0.625F, 2, 0.75F, -1.25F, 0.125F, 0.625F, -0.25F, 0.625F, -0.125F, 0.625F, 1.5F, -0.625F});
    const Tensor operand_c = f32({3, 3}, {0.25F, -0.5F, 0.125F, -1.125F, -0.625F, -0.25F, 0.875F, 1.125F, -1.375F});
    {
        const auto y = run_op("com.microsoft/EmbedLayerNormalization", 1,
                              {operand_a, of_type(ElementType::i32, {2, 2}, {0, 1, 1, 0}), operand_b, operand_c,
                               f32({2, 3}, {-0.75F, 0.625F, -2, -0.5F, -0.125F, 1.25F}), f32({3}, {-0.75F, 1, -0.75F}),
                               f32({3}, {0, 0.875F, -0.625F}), of_type(ElementType::i32, {2, 2}, {1, 0, 1, 1})},
                              {{"epsilon", 0.001F}}, 3);
        expect_values(y[0], {2, 2, 3},
                      {0.7349269, 2.246864, -0.3310292, 1.03755, 1.815712, -0.9570161, 1.029293, 1.267112, -1.360209,
                       0.4597301, 2.284839, -0.02735089});
        expect_values(y[1], {2}, {1, 2});
        expect_values(y[2], {2, 2, 3},
                      {-1.75, 0.25, -1.25, -1, 0.75, 0.375, -0.875, 1.375, 2.125, -2.125, 0.625, -2.375});
    }
    {
        const auto y = run_op("com.microsoft/EmbedLayerNormalization", 1,
                              {operand_a, absent, operand_b, operand_c, absent, f32({3}, {-0.75F, 1, -0.75F}),
                               f32({3}, {0, 0.875F, -0.625F}), absent, of_type(ElementType::i32, {1, 2}, {2, 0})},
                              {}, 2);
        expect_values(y[0], {2, 2, 3},
                      {0.3600115, 2.267045, 0.05902189, -0.4598545, 1.672081, 0.4326654, 0.3121361, 2.253601,
                       0.09681478, 0.5303301, 2.289214, -0.09466991});
        expect_values(y[1], {2}, {0, 0});
    }
}

TEST(FusedMatMul, TurnsAxes) {
    {
        const auto y =
            run_op("com.microsoft/FusedMatMul", 1,
                   {f32({2, 3, 2},
                        {0.75F, -0.375F, -0.375F, -0.25F, 1.5F, -0.375F, -0.25F, 0.375F, -0.125F, -0.25F, -1.125F, 0}),
                    f32({2, 3, 2}, {-0.5F, 1.125F, 0.625F, 0, 0.625F, -0.375F, 1, 0, 0.625F, -1.25F, 0.375F, -1.75F})},
                   {{"transA", int64_t{1}}, {"alpha", 0.5F}}, 1);
        expect_values(y[0], {2, 2, 2}, {0.1640625, 0.140625, -0.1015625, -0.140625, -0.375, 1.0625, 0.109375, 0.15625});
    }
    {
        const auto y =
            run_op("com.microsoft/FusedMatMul", 1,
                   {f32({3, 2, 2},
                        {-2, -0.25F, -0.875F, 0.125F, 2.25F, -0.875F, -0.625F, 0.25F, 0.5F, -0.125F, -0.25F, 0.75F}),
                    f32({2, 2, 3}, {0.5F, -1, -0.125F, 0, -1, 0.25F, -0.875F, 1, 0.25F, 0.125F, -0.625F, -0.125F})},
                   {{"transBatchA", int64_t{1}}}, 1);
        expect_values(y[0], {2, 3, 3},
                      {-1, 2.25, 0.1875, 1.125, -1.375, -0.5, 0.25, -0.375, -0.09375, 0.78125, -0.953125, -0.234375,
                       0.578125, -0.78125, -0.1875, 0.3125, -0.71875, -0.15625});
    }
}

TEST(FusedConv, AddsThenActivates) {
    const Tensor operand_a = f32({1, 2, 3, 3}, {-2, -1.125F, 0.375F, -2.125F, 0.875F, -1.75F, 0.75F, -0.875F, 0.75F,
                                                0.125F, -1.5F, 1.25F, 1.5F, -0.125F, -0.25F, -0.125F, -1, 1.125F});
    const Tensor operand_b = f32({2, 1, 2, 2}, {-0.5F, 0, -0.75F, -0.625F, -1.25F, 1.25F, -0.125F, 1});
    {
        const auto y = run_op("com.microsoft/FusedConv", 1,
                              {operand_a, operand_b, f32({2}, {0, -0.75F}),
                               f32({1, 2, 2, 2}, {-0.375F, -0.5F, 0, -0.375F, -0.25F, -1.375F, -0.75F, 1.625F})},
                              {{"group", int64_t{2}}, {"activation", std::string("Relu")}}, 1);
        expect_values(y[0], {1, 2, 2, 2}, {1.671875, 0.5, 1.046875, 0, 0, 1.078125, 0, 1.96875});
    }
    {
        const auto y = run_op("com.microsoft/FusedConv", 1, {operand_a, operand_b, f32({2}, {0, -0.75F})},
                              {{"group", int64_t{2}},
                               {"activation", std::string("LeakyRelu")},
                               {"activation_params", std::vector<float>{0.25F}}},
                              1);
        expect_values(y[0], {1, 2, 2, 2}, {2.046875, 1, 1.046875, -0.0625, -0.7734375, 2.453125, -0.9414062, 0.34375});
    }
    {
        const auto y = run_op("com.microsoft/FusedConv", 1, {operand_a, operand_b, f32({2}, {0, -0.75F})},
                              {{"group", int64_t{2}},
                               {"activation", std::string("Clip")},
                               {"activation_params", std::vector<float>{-0.5F, 1.5F}}},
                              1);
        expect_values(y[0], {1, 2, 2, 2}, {1.5, 1, 1.046875, -0.25, -0.5, 1.5, -0.5, 0.34375});
    }
    {
        const auto y = run_op("com.microsoft/FusedConv", 1, {operand_a, operand_b, f32({2}, {0, -0.75F})},
                              {{"group", int64_t{2}},
                               {"activation", std::string("HardSigmoid")},
                               {"activation_params", std::vector<float>{0.25F, 0.5F}}},
                              1);
        expect_values(y[0], {1, 2, 2, 2}, {1, 0.75, 0.7617188, 0.4375, 0, 1, 0, 0.5859375});
    }
}

TEST(FusedGemm, Activates) {
    {
        const auto y = run_op("com.microsoft/FusedGemm", 1,
                              {f32({3, 2}, {0.125F, -0.75F, 0.5F, -0.5F, -0.125F, -1.125F}),
                               f32({1, 3}, {-1.25F, 1.375F, -0.5F}), f32({1, 1}, {0})},
                              {{"transA", int64_t{1}},
                               {"transB", int64_t{1}},
                               {"alpha", 0.5F},
                               {"beta", 2.0F},
                               {"activation", std::string("LeakyRelu")},
                               {"activation_alpha", 0.25F}},
                              1);
        expect_values(y[0], {2, 1}, {0.296875, 0.40625});
    }
}

TEST(BiasSoftmax, RepeatsLinesOfTheBias) {
    const Tensor operand_a =
        f32({2, 2, 3}, {1.625F, -1, 0.625F, -1.375F, 0.25F, -0.375F, 0, 0.625F, 1.75F, 0.25F, 0.125F, -1});
    {
        const auto y =
            run_op("com.microsoft/BiasSoftmax", 1, {operand_a, f32({1, 2, 3}, {0.625F, -0.25F, 0.875F, 0, 1.75F, -2})},
                   {{"axis", int64_t{2}}, {"is_inner_broadcast", int64_t{0}}}, 1);
        expect_values(y[0], {2, 2, 3},
                      {0.6655291, 0.02009724, 0.3143737, 0.03268811, 0.9552866, 0.01202528, 0.1090767, 0.08494906,
                       0.8059742, 0.1634737, 0.8301878, 0.006338562});
    }
    {
        const auto y = run_op("com.microsoft/BiasSoftmax", 1,
                              {operand_a, f32({2, 1, 3}, {-0.25F, 0.875F, -0.375F, -0.75F, -0.25F, -1.375F})},
                              {{"axis", int64_t{2}}, {"is_inner_broadcast", int64_t{1}}}, 1);
        expect_values(y[0], {2, 2, 3},
                      {0.6460856, 0.1441612, 0.2097533, 0.05251685, 0.8215018, 0.1259814, 0.1396563, 0.4301718,
                       0.4301718, 0.3833847, 0.5578214, 0.05879394});
    }
}

TEST(FusedConv, RefusesWhatDoesNotFit) {
    const Tensor x = ramp({1, 1, 3, 3});
    const Tensor w = ramp({2, 1, 2, 2});
    EXPECT_THROW(run_op("com.microsoft/FusedConv", 1, {x, w, ramp({3})}), UserError);
    EXPECT_THROW(run_op("com.microsoft/FusedConv", 1, {x, w, absent, ramp({1, 2, 2, 1})}), UserError);
    EXPECT_THROW(run_op("com.microsoft/FusedConv", 1, {x, w}, {{"activation", std::string("Softsquare")}}), UserError);
    EXPECT_THROW(run_op("com.microsoft/FusedConv", 1, {x, w}, {{"activation", std::string("Clip")}}), UserError);
}

TEST(SkipLayerNormalization, RefusesWhatDoesNotFit) {
    const Tensor x = ramp({2, 2, 3});
    const auto run = [&](const Tensor& skip, const Tensor& gamma) {
        return run_op("com.microsoft/SkipLayerNormalization", 1, {x, skip, gamma});
    };
    EXPECT_THROW(run(ramp({3}), ramp({3})), UserError);
    EXPECT_THROW(run(ramp({1, 1, 3}), ramp({3})), UserError);
    EXPECT_THROW(run(x, ramp({2})), UserError);
    EXPECT_THROW(run(x, of_type(ElementType::f16, {3}, {1, 1, 1})), UserError);
    EXPECT_EQ(run_op("com.microsoft/SkipLayerNormalization", 1, {ramp({0, 2, 3}), ramp({0, 2, 3}), ramp({3})}, {}, 4)[1]
                  .shape(),
              (Shape{0, 2, 1}));
}

TEST(EmbedLayerNormalization, RefusesIdsOutsideTheTable) {
    const Tensor table = ramp({4, 3});
    const auto run = [&](double id) {
        return run_op("com.microsoft/EmbedLayerNormalization", 1,
                      {of_type(ElementType::i32, {1, 1}, {id}), absent, table, table, absent, ramp({3}), ramp({3})});
    };
    EXPECT_NO_THROW(run(3));
    EXPECT_THROW(run(4), UserError);
    EXPECT_THROW(run(-1), UserError);
}

}  // namespace
}  // namespace headway
