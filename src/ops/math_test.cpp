#include "ops/testing.h"

// Expected values were computed with ONNX Runtime and the ONNX reference, which agree where both handle a case.
namespace headway {
namespace {

using namespace testing;

TEST(Reduce, AxesAndKeepdims) {
    {
        const auto y =
            run_op("ReduceSum", 13, {ramp({2, 3, 2}, 0.0F, 1.0F), i64({2}, {1, -1})}, {{"keepdims", int64_t{0}}}, 1);
        expect_values(y[0], {2}, {15, 51});
    }
    {
        const auto y = run_op("ReduceMean", 11, {ramp({2, 3, 2}, 0.0F, 1.0F)}, {{"axes", ints({-2})}}, 1);
        expect_values(y[0], {2, 1, 2}, {2, 3, 8, 9});
    }
    {
        const auto y = run_op("ReduceLogSumExp", 11, {f32({1, 2, 2}, {100, 101, -1000, -1000})},
                              {{"axes", ints({1})}, {"keepdims", int64_t{0}}}, 1);
        expect_values(y[0], {1, 2}, {100, 101});
    }
    {
        const auto y = run_op("ReduceL2", 11, {ramp({2, 3}, -2.0F, 1.0F)}, {{"axes", ints({0})}}, 1);
        expect_values(y[0], {1, 3}, {2.236068, 2.236068, 3});
    }
    {
        const auto y = run_op("ReduceProd", 11, {ramp({2, 3}, -2.0F, 1.0F)}, {}, 1);
        expect_values(y[0], {1, 1}, {0});
    }
}

TEST(Softmax, FlattensBeforeOpset13) {
    {
        const auto y = run_op("Softmax", 11, {ramp({2, 2, 3}, 0.0F, 0.3F)}, {}, 1);
        expect_values(y[0], {2, 2, 3},
                      {0.069283813, 0.093523353, 0.12624334, 0.17041068, 0.23003036, 0.31050849, 0.069283813,
                       0.093523368, 0.12624335, 0.17041068, 0.23003034, 0.31050855});
    }
    {
        const auto y = run_op("Softmax", 13, {ramp({2, 2, 3}, 0.0F, 0.3F)}, {{"axis", int64_t{1}}}, 1);
        expect_values(y[0], {2, 2, 3},
                      {0.28905049, 0.28905049, 0.28905052, 0.71094948, 0.71094948, 0.71094948, 0.28905052, 0.28905052,
                       0.28905049, 0.71094948, 0.71094948, 0.71094954});
    }
    {
        const auto y = run_op("LogSoftmax", 13, {f32({1, 2, 2}, {1000, 1001, -5, 7})}, {}, 1);
        expect_values(y[0], {1, 2, 2}, {-1.3132617, -0.31326166, -12.000007, -6.1989022e-06});
    }
}

TEST(Normalization, LayerInstanceBatch) {
    {
        const auto y = run_op(
            "LayerNormalization", 17,
            {f32({2, 2, 3}, {1, 4, 2, 8, 5, 7, 0, 1, 0, -2, 3, 9}), ramp({2, 3}, 1.0F, 0.1F), ramp({2, 3}, 0.0F, 0.1F)},
            {{"axis", int64_t{1}}}, 1);
        expect_values(y[0], {2, 2, 3},
                      {-1.399999, -0.11999985, -0.99999923, 2.1199987, 0.67999983, 1.9999989, -0.51912189, -0.15956095,
                       -0.42294627, -1.1110675, 0.86249036, 3.5439417});
    }
    {
        const auto y = run_op("InstanceNormalization", 6,
                              {ramp({1, 2, 2, 2}, 0.0F, 1.5F), f32({2}, {1, 2}), f32({2}, {0.5F, -0.5F})}, {}, 1);
        expect_values(y[0], {1, 2, 2, 2},
                      {-0.84163845, 0.052787185, 0.94721282, 1.8416384, -3.1832769, -1.3944256, 0.39442563, 2.1832769});
    }
    {
        const auto y = run_op("BatchNormalization", 15,
                              {ramp({1, 2, 2}, 0.0F, 1.0F), f32({2}, {1, 2}), f32({2}, {0.5F, -0.5F}), f32({2}, {1, 2}),
                               f32({2}, {4, 0.25F})},
                              {}, 1);
        expect_values(y[0], {1, 2, 2}, {5.9604645e-07, 0.5, -0.5, 3.4999199});
    }
}

TEST(MatMul, BatchesBroadcastAndVectors) {
    {
        const auto y = run_op("MatMul", 13, {ramp({2, 1, 2, 3}, 0.0F, 1.0F), ramp({2, 3, 1}, 0.0F, 1.0F)}, {}, 1);
        expect_values(y[0], {2, 2, 2, 1}, {5, 14, 14, 50, 23, 32, 86, 122});
    }
    {
        const auto y = run_op("MatMul", 13, {f32({3}, {1, 2, 3}), ramp({3, 2}, 0.0F, 1.0F)}, {}, 1);
        expect_values(y[0], {2}, {16, 22});
    }
    {
        const auto y = run_op("MatMul", 13, {ramp({2, 3}, 0.0F, 1.0F), f32({3}, {1, 2, 3})}, {}, 1);
        expect_values(y[0], {2}, {8, 26});
    }
}

TEST(Gemm, TransposesAndBroadcastsC) {
    {
        const auto y =
            run_op("Gemm", 13, {ramp({3, 2}, 0.0F, 1.0F), ramp({4, 3}, 0.0F, 0.5F), ramp({2, 1}, 1.0F, 1.0F)},
                   {{"transA", int64_t{1}}, {"transB", int64_t{1}}, {"alpha", 0.5F}, {"beta", 2.0F}}, 1);
        expect_values(y[0], {2, 4}, {4.5, 9, 13.5, 18, 7.25, 14, 20.75, 27.5});
    }
}

TEST(Einsum, DiagonalsSumsAndEllipsis) {
    {
        const auto y = run_op("Einsum", 12, {ramp({2, 2, 3}, 0.0F, 1.0F), ramp({2, 3, 2}, 0.0F, 1.0F)},
                              {{"equation", std::string("bij,bjk->bik")}}, 1);
        expect_values(y[0], {2, 2, 2}, {10, 13, 28, 40, 172, 193, 244, 274});
    }
    {
        const auto y = run_op("Einsum", 12, {ramp({3, 3}, 0.0F, 1.0F)}, {{"equation", std::string("ii->i")}}, 1);
        expect_values(y[0], {3}, {0, 4, 8});
    }
    {
        const auto y = run_op("Einsum", 12, {ramp({2, 2, 2}, 0.0F, 1.0F), ramp({2}, 1.0F, 1.0F)},
                              {{"equation", std::string("...j,j->...")}}, 1);
        expect_values(y[0], {2, 2}, {2, 8, 14, 20});
    }
}

TEST(Resize, CoordinatesAndModes) {
    {
        const auto y = run_op("Resize", 13, {ramp({1, 1, 3, 3}, 1.0F, 1.0F), Tensor{}, f32({4}, {1, 1, 2.5F, 2.5F})},
                              {{"mode", std::string("nearest")}}, 1);
        expect_values(y[0], {1, 1, 7, 7}, {1, 1, 1, 2, 2, 3, 3, 1, 1, 1, 2, 2, 3, 3, 1, 1, 1, 2, 2, 3, 3, 4, 4, 4, 5,
                                           5, 6, 6, 4, 4, 4, 5, 5, 6, 6, 7, 7, 7, 8, 8, 9, 9, 7, 7, 7, 8, 8, 9, 9});
    }
    {
        const auto y = run_op(
            "Resize", 13, {ramp({1, 1, 3, 3}, 1.0F, 1.0F), Tensor{}, Tensor{}, i64({4}, {1, 1, 4, 2})},
            {{"mode", std::string("linear")}, {"coordinate_transformation_mode", std::string("align_corners")}}, 1);
        expect_values(y[0], {1, 1, 4, 2}, {1, 3, 3, 5, 5, 7, 7, 9});
    }
    {
        const auto y =
            run_op("Resize", 13, {ramp({1, 1, 3, 3}, 1.0F, 1.0F), Tensor{}, f32({4}, {1, 1, 0.60000002F, 1.5F})},
                   {{"mode", std::string("cubic")}, {"exclude_outside", int64_t{1}}}, 1);
        expect_values(y[0], {1, 1, 1, 4}, {1.5986508, 2.0714307, 2.9434607, 3.5839205});
    }
    {
        const auto y = run_op("Resize", 13,
                              {ramp({1, 1, 1, 4}, 1.0F, 1.0F), f32({8}, {0, 0, 0, 0.25F, 1, 1, 1, 1.5F}), Tensor{},
                               i64({4}, {1, 1, 1, 4})},
                              {{"mode", std::string("linear")},
                               {"coordinate_transformation_mode", std::string("tf_crop_and_resize")},
                               {"extrapolation_value", 10.0F}},
                              1);
        expect_values(y[0], {1, 1, 1, 4}, {1.75, 3, 10, 10});
    }
    {
        const auto y = run_op("Resize", 10, {ramp({1, 1, 3, 3}, 1.0F, 1.0F), f32({4}, {1, 1, 1.7F, 2})},
                              {{"mode", std::string("nearest")}}, 1);
        expect_values(y[0], {1, 1, 5, 6},
                      {1, 1, 2, 2, 3, 3, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9});
    }
}

TEST(Recurrent, LstmPeepholesLengthsBothDirections) {
    {
        const auto y =
            run_op("LSTM", 14,
                   {ramp({3, 2, 2}, -0.5F, 0.1F), ramp({2, 8, 2}, -0.3F, 0.02F), ramp({2, 8, 2}, 0.3F, -0.02F),
                    ramp({2, 16}, -0.1F, 0.01F), of_type(ElementType::i32, {2}, {3, 1}), ramp({2, 2, 2}, 0.1F, 0.1F),
                    ramp({2, 2, 2}, -0.1F, 0.1F), ramp({2, 6}, 0.1F, 0.03F)},
                   {{"hidden_size", int64_t{2}}, {"direction", std::string("bidirectional")}}, 3);
        expect_values(
            y[0], {3, 2, 2, 2},
            {-0.010370313,  0.0094400886, 0.047389448, 0.067208573, 0.076374911, 0.079600543, 0.071466796, 0.080183938,
             -0.0032380964, 0.0094475457, 0,           0,           0.1546562,   0.18009673,  0,           0,
             -0.0076830876, 0.0069838399, 0,           0,           0.1631553,   0.20140786,  0,           0});
        expect_values(y[1], {2, 2, 2},
                      {-0.0076830876, 0.0069838399, 0.047389448, 0.067208573, 0.076374911, 0.079600543, 0.071466796,
                       0.080183938});
        expect_values(
            y[2], {2, 2, 2},
            {-0.017331541, 0.015297562, 0.086957589, 0.12468335, 0.14284608, 0.15053833, 0.13917255, 0.16019377});
    }
}

TEST(Recurrent, GruLinearBeforeReset) {
    {
        const auto y =
            run_op("GRU", 14,
                   {ramp({3, 2, 2}, -0.5F, 0.1F), ramp({2, 6, 2}, -0.3F, 0.02F), ramp({2, 6, 2}, 0.3F, -0.02F),
                    ramp({2, 12}, -0.1F, 0.01F), of_type(ElementType::i32, {2}, {3, 1}), ramp({2, 2, 2}, 0.1F, 0.1F)},
                   {{"hidden_size", int64_t{2}},
                    {"direction", std::string("bidirectional")},
                    {"linear_before_reset", int64_t{1}}},
                   2);
        expect_values(
            y[0], {3, 2, 2, 2},
            {0.090265721,  0.13221887,   0.18990734, 0.23352389, 0.11283706, 0.11307189, 0.37681794, 0.40357056,
             0.027748948,  0.051893756,  0,          0,          0.2091236,  0.23972896, 0,          0,
             -0.072004929, -0.036643781, 0,          0,          0.32894757, 0.39153105, 0,          0});
        expect_values(
            y[1], {2, 2, 2},
            {-0.072004929, -0.036643781, 0.18990734, 0.23352389, 0.11283706, 0.11307189, 0.37681794, 0.40357056});
    }
    {
        const auto y = run_op(
            "GRU", 14, {ramp({2, 1, 2}, -0.5F, 0.1F), ramp({1, 6, 2}, -0.3F, 0.02F), ramp({1, 6, 2}, 0.3F, -0.02F)},
            {{"hidden_size", int64_t{2}}, {"direction", std::string("reverse")}}, 2);
        expect_values(y[0], {2, 1, 1, 2}, {0.069612838, 0.04923363, 0.030550923, 0.021537729});
        expect_values(y[1], {1, 1, 2}, {0.069612838, 0.04923363});
    }
}

TEST(Reduce, NothingIsTheIdentity) {
    const auto none = f32({0, 2}, {});
    const NamedAttributes axis{{"axes", ints({0})}, {"keepdims", int64_t{0}}};
    expect_values(run_op("ReduceMax", 13, {none}, axis)[0], {2}, {-INFINITY, -INFINITY});
    expect_values(run_op("ReduceMin", 13, {none}, axis)[0], {2}, {INFINITY, INFINITY});
    expect_values(run_op("ReduceProd", 13, {none}, axis)[0], {2}, {1, 1});
    expect_values(run_op("ReduceLogSumExp", 13, {none}, axis)[0], {2}, {-INFINITY, -INFINITY});
    expect_values(run_op("ReduceMean", 13, {none}, axis)[0], {2}, {NAN, NAN});
}

// Without axes and with noop_with_empty_axes nothing is summed, but the elementwise part stays.
TEST(Reduce, NoAxesStillSquares) {
    const NamedAttributes noop{{"noop_with_empty_axes", int64_t{1}}};
    expect_values(run_op("ReduceSumSquare", 18, {f32({1, 2}, {2, -3})}, noop)[0], {1, 2}, {4, 9});
    expect_values(run_op("ReduceL1", 18, {f32({1, 2}, {2, -3}), i64({0}, {})}, noop)[0], {1, 2}, {2, 3});
}

TEST(Reduce, ScalarsNanAndIntegers) {
    expect_values(run_op("ReduceSum", 13, {f32({}, {3})})[0], {}, {3});
    expect_values(run_op("ReduceMax", 13, {f32({4}, {nan_f, nan_f, nan_f, 42})})[0], {1}, {NAN});
    expect_values(run_op("ReduceMin", 13, {f32({2}, {1, nan_f})})[0], {1}, {NAN});
    const int64_t big = (int64_t{1} << 62) + 1;
    EXPECT_EQ(run_op("ReduceMax", 13, {i64({big, big - 1})})[0].data<int64_t>()[0], big);
    EXPECT_THROW(run_op("ReduceSum", 11, {f32({2}, {1, 2})}, {{"axes", ints({1})}}), UserError);
    EXPECT_THROW(run_op("ReduceSum", 11, {f32({2}, {1, 2})}, {{"axes", ints({0, -1})}}), UserError);
}

TEST(Softmax, MaskedRowIsNan) {
    expect_values(run_op("Softmax", 13, {f32({2}, {-inf_f, -inf_f})})[0], {2}, {NAN, NAN});
    expect_values(run_op("Softmax", 13, {f32({2}, {-inf_f, 0})})[0], {2}, {0, 1});
}

TEST(MatMul, IntegersWrapAndInnerMayBeEmpty) {
    const int64_t big = (int64_t{1} << 62) + 1;
    EXPECT_EQ(run_op("MatMul", 13, {i64({1, 1}, {big}), i64({1, 1}, {1})})[0].data<int64_t>()[0], big);
    expect_values(run_op("MatMul", 13, {f32({2, 0}, {}), f32({0, 1}, {})})[0], {2, 1}, {0, 0});
    EXPECT_THROW(run_op("MatMul", 13, {ramp({2, 3}), ramp({2, 3})}), UserError);
    EXPECT_THROW(run_op("Gemm", 13, {ramp({2}), ramp({2, 3})}), UserError);
}

// Larger than every block of the product.
TEST(MatMul, Blocks) {
    const int64_t m = 7, k = 600, n = 133;
    const auto a = ramp({m, k}, -1, 0.001F);
    const auto b = ramp({k, n}, 1, -0.0001F);
    const Tensor y = run_op("MatMul", 13, {a, b})[0];
    for (int64_t row : {int64_t{0}, m - 1})
        for (int64_t column : {int64_t{0}, n - 1}) {
            double sum = 0;
            for (int64_t i = 0; i < k; ++i) sum += a.at(row * k + i) * b.at(i * n + column);
            EXPECT_NEAR(y.at(row * n + column), sum, 1e-3);
        }
}

TEST(Mod, SignsOfDividendAndDivisor) {
    expect_values(run_op("Mod", 13, {i64({-5, 5}), i64({3, -3})})[0], {2}, {1, -1});
    expect_values(run_op("Mod", 13, {f32({1}, {-5.5}), f32({1}, {3})}, {{"fmod", int64_t{1}}})[0], {1}, {-2.5});
    EXPECT_THROW(run_op("Mod", 13, {i64({1}), i64({0})}), UserError);
}

TEST(Quantize, RoundsTiesToEvenAndSaturates) {
    const auto y =
        run_op("QuantizeLinear", 13, {f32({4}, {1, 3, 1000, -7}), f32({}, {2}), of_type(ElementType::u8, {}, {1})});
    EXPECT_EQ(y[0].type(), ElementType::u8);
    expect_values(y[0], {4}, {1, 3, 255, 0});
    const auto x = run_op("DequantizeLinear", 13, {of_type(ElementType::i8, {2, 1}, {-128, 5}), f32({2}, {0.5, 2})},
                          {{"axis", int64_t{0}}});
    expect_values(x[0], {2, 1}, {-64, 10});
}

TEST(Loss, WeightsAndIgnoredTargets) {
    const Tensor x = ramp({2, 3}, -1, -1);
    const Tensor targets = i64({0, 2});
    const Tensor weights = f32({3}, {2, 1, 0.5F});
    const std::string op = "NegativeLogLikelihoodLoss";
    const NamedAttributes none{{"reduction", std::string("none")}};
    expect_values(run_op(op, 13, {x, targets}, none)[0], {2}, {1, 6});
    expect_values(run_op(op, 13, {x, targets, weights}, none)[0], {2}, {2, 3});
    expect_values(run_op(op, 13, {x, targets, weights})[0], {}, {2});
    expect_values(run_op(op, 13, {x, targets, weights}, {{"ignore_index", int64_t{2}}})[0], {}, {1});
    expect_values(run_op(op, 13, {x, i64({-1, 1})}, {{"ignore_index", int64_t{-1}}})[0], {}, {5});
    expect_values(run_op(op, 13, {f32({1, 2, 2}, {-1, -2, -3, -4}), i64({1, 2}, {1, 0})}, none)[0], {1, 2}, {3, 2});
    EXPECT_THROW(run_op(op, 13, {x, i64({-1, 1})}), UserError);
    EXPECT_THROW(run_op(op, 13, {x, i64({0, 3})}), UserError);
    EXPECT_THROW(run_op(op, 13, {x, targets, f32({2}, {1, 1})}), UserError);
    EXPECT_THROW(run_op(op, 13, {x, i64({3}, {0, 0, 0})}), UserError);
}

TEST(Loss, CrossEntropyOfLargeScores) {
    const auto y =
        run_op("SoftmaxCrossEntropyLoss", 13, {f32({2, 2}, {1000, 0, 0, 0}), of_type(ElementType::i32, {2}, {1, 0})},
               {{"reduction", std::string("sum")}}, 2);
    expect_values(y[0], {}, {1000.6931472});
    expect_values(y[1], {2, 2}, {0, -1000, -0.6931472, -0.6931472});
}

TEST(Det, PivotsAndBatches) {
    expect_values(run_op("Det", 22, {f32({2, 2, 2}, {1, 2, 3, 4, 0, 1, 1, 0})})[0], {2}, {-2, -1});
    expect_values(run_op("Det", 11, {f32({2, 2}, {1, 2, 2, 4})})[0], {}, {0});
    expect_values(run_op("Det", 11, {f32({2, 2}, {0, 1, nan_f, 1})})[0], {}, {nan_f});
    expect_values(run_op("Det", 11, {f32({0, 0}, {})})[0], {}, {1});
    EXPECT_THROW(run_op("Det", 11, {ramp({2, 3})}), UserError);
    EXPECT_THROW(run_op("Det", 11, {ramp({2})}), UserError);
}

TEST(CumProd, ExclusiveFromTheEnd) {
    const auto y =
        run_op("CumProd", 26, {ramp({4}, 1), i64({}, {0})}, {{"exclusive", int64_t{1}}, {"reverse", int64_t{1}}});
    expect_values(y[0], {4}, {24, 12, 4, 1});
}

}  // namespace
}  // namespace headway
