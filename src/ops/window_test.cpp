#include "ops/testing.h"

// Expected values were computed with ONNX Runtime and the ONNX reference, which agree where both handle a case.
namespace headway {
namespace {

using namespace testing;

TEST(Conv, OddChannelsPadsAndDilation) {
    {
        const auto y = run_op(
            "Conv", 11, {ramp({1, 3, 4, 5}, -1.0F, 0.1F), ramp({2, 3, 2, 3}, -0.4F, 0.05F), f32({2}, {0.5F, -0.5F})},
            {{"pads", ints({1, 0, 0, 1})}, {"strides", ints({2, 1})}, {"dilations", ints({1, 2})}}, 1);
        expect_values(y[0], {1, 2, 2, 2},
                      {5.2400002, 3.4549999, 9.0350008, 5.5550003, 13.960001, 8.9350004, 39.625, 25.615002});
    }
}

TEST(Conv, GroupsAndSameUpper) {
    {
        const auto y =
            run_op("Conv", 11, {ramp({1, 4, 3, 3}, -1.0F, 0.1F), ramp({4, 2, 2, 2}, -0.4F, 0.05F)},
                   {{"group", int64_t{2}}, {"auto_pad", std::string("SAME_UPPER")}, {"strides", ints({2, 2})}}, 1);
        expect_values(
            y[0], {1, 4, 2, 2},
            {1.0599999, 0.41000003, 0.074999988, -0.060000014, -0.059999969, 0.089999996, 0.23500003, 0.14000002,
             7.1000009, 3.7300003, 4.1750007, 2.1400001, 11.740001, 6.2900004, 7.2150006, 3.7800002});
    }
}

TEST(Conv, Depthwise1d) {
    {
        const auto y = run_op("Conv", 11, {ramp({2, 3, 5}, -1.0F, 0.1F), ramp({3, 1, 3}, -0.4F, 0.1F)},
                              {{"group", int64_t{3}}, {"auto_pad", std::string("SAME_LOWER")}}, 1);
        expect_values(y[0], {2, 3, 5}, {0.48000002,  0.83000004,  0.74000001,  0.65000004,  0.46000001,  -0.039999995,
                                        0.019999998, 0.019999998, 0.020000003, 0.019999998, 0.04000001,  0.11000003,
                                        0.20000005,  0.29000002,  0.18000001,  -0.27000001, -0.51999998, -0.61000007,
                                        -0.70000005, -0.59000003, 0.11000001,  0.020000003, 0.019999973, 0.020000003,
                                        -0.12999998, 1.09,        1.46,        1.55,        1.6400001,   0.93000001});
    }
}

TEST(Conv, ThreeAxes) {
    {
        const auto y =
            run_op("Conv", 11, {ramp({1, 1, 2, 3, 3}, -1.0F, 0.1F), ramp({1, 1, 2, 2, 2}, -0.4F, 0.1F)}, {}, 1);
        expect_values(y[0], {1, 1, 1, 2, 2}, {1, 0.96000004, 0.88, 0.84000003});
    }
}

TEST(ConvTranspose, StridePadsAndOutputPadding) {
    {
        const auto y = run_op(
            "ConvTranspose", 11, {ramp({1, 2, 2, 3}, -1.0F, 0.2F), ramp({2, 2, 3, 3}, -0.4F, 0.05F), f32({2}, {1, -1})},
            {{"strides", ints({2, 2})}, {"pads", ints({1, 1, 1, 1})}, {"output_padding", ints({1, 0})}}, 1);
        expect_values(
            y[0], {1, 2, 4, 5},
            {1.34,        1.7600001,   1.4400001,  1.96,        1.54,      1.8000001,   2.7600002,   2,
             3.1600001,   2.2,         1.6400001,  2.3600001,   1.74,      2.5600002,   1.8400002,   1.7,
             2.5400002,   1.86,        2.8600001,  2.02,        -1.02,     -0.77999997, -0.74000001, -0.21999997,
             -0.45999992, -0.37999988, 0.76000035, 0.17999995,  1.8800004, 0.74000013,  -0.17999983, 0.90000021,
             0.10000014,  1.46,        0.38000011, -0.11999983, 1.0800002, 0.22000003,  1.76,        0.56000018});
    }
}

TEST(ConvTranspose, SameUpperAndOneAxis) {
    {
        const auto y = run_op("ConvTranspose", 11, {ramp({1, 1, 4}, 0.0F, 1.0F), ramp({1, 1, 3}, 1.0F, 1.0F)},
                              {{"strides", ints({2})}, {"auto_pad", std::string("SAME_UPPER")}}, 1);
        expect_values(y[0], {1, 1, 8}, {0, 0, 1, 2, 5, 4, 9, 6});
    }
    {
        const auto y = run_op("ConvTranspose", 11, {ramp({1, 2, 3}, 0.0F, 1.0F), ramp({2, 1, 2}, 1.0F, 1.0F)},
                              {{"strides", ints({2})}, {"group", int64_t{2}}, {"dilations", ints({2})}}, 1);
        expect_values(y[0], {1, 2, 7}, {0, 0, 1, 0, 4, 0, 4, 9, 0, 24, 0, 31, 0, 20});
    }
}

TEST(MaxPool, IndicesPadsAndDilation) {
    {
        const auto y = run_op("MaxPool", 12, {ramp({1, 1, 4, 4}, 1.0F, -1.0F)},
                              {{"kernel_shape", ints({2, 2})},
                               {"pads", ints({1, 1, 0, 0})},
                               {"strides", ints({2, 1})},
                               {"dilations", ints({1, 2})}},
                              2);
        expect_values(y[0], {1, 1, 2, 3}, {0, 1, 0, -4, -3, -4});
        expect_values(y[1], {1, 1, 2, 3}, {1, 0, 1, 5, 4, 5});
    }
}

TEST(AveragePool, CountsPadding) {
    {
        const auto y = run_op("AveragePool", 11, {ramp({1, 1, 3, 3}, 0.0F, 1.0F)},
                              {{"kernel_shape", ints({2, 2})},
                               {"pads", ints({1, 1, 1, 1})},
                               {"strides", ints({2, 2})},
                               {"count_include_pad", int64_t{1}}},
                              1);
        expect_values(y[0], {1, 1, 2, 2}, {0, 0.75, 2.25, 6});
    }
    {
        const auto y =
            run_op("AveragePool", 11, {ramp({1, 1, 3, 3}, 0.0F, 1.0F)},
                   {{"kernel_shape", ints({2, 2})}, {"pads", ints({1, 1, 1, 1})}, {"strides", ints({2, 2})}}, 1);
        expect_values(y[0], {1, 1, 2, 2}, {0, 1.5, 4.5, 6});
    }
}

TEST(GlobalPool, MeansAndMaxima) {
    {
        const auto y = run_op("GlobalAveragePool", 1, {ramp({1, 2, 2, 3}, 0.0F, 1.0F)}, {}, 1);
        expect_values(y[0], {1, 2, 1, 1}, {2.5, 8.5});
    }
    {
        const auto y = run_op("GlobalMaxPool", 1, {ramp({1, 2, 2, 3}, 0.0F, -1.0F)}, {}, 1);
        expect_values(y[0], {1, 2, 1, 1}, {0, -6});
    }
}

// A last window must start inside the input or its left padding: 9 outputs here, not 10.
TEST(AveragePool, CeilModeCountsNoWindowInTheEndPadding) {
    const auto y = run_op(
        "AveragePool", 11, {ramp({1, 1, 17}, 1, 1)},
        {{"kernel_shape", ints({2})}, {"strides", ints({2})}, {"pads", ints({1, 1})}, {"ceil_mode", int64_t{1}}});
    expect_values(y[0], {1, 1, 9}, {1, 2.5, 4.5, 6.5, 8.5, 10.5, 12.5, 14.5, 16.5});
    // The divisor leaves out what lies beyond the padding.
    const auto z = run_op("AveragePool", 11, {ramp({1, 1, 4}, 1, 1)},
                          {{"kernel_shape", ints({3})},
                           {"strides", ints({2})},
                           {"ceil_mode", int64_t{1}},
                           {"count_include_pad", int64_t{1}}});
    expect_values(z[0], {1, 1, 2}, {2, 3.5});
}

TEST(MaxPool, NanWins) {
    const auto y = run_op("MaxPool", 12, {f32({1, 1, 4}, {nan_f, 1, 2, 3})}, {{"kernel_shape", ints({2})}});
    expect_values(y[0], {1, 1, 3}, {NAN, 2, 3});
}

TEST(ConvTranspose, SameUpperDoublesTheExtents) {
    const auto y = run_op("ConvTranspose", 11, {ramp({1, 1, 4, 4}), ramp({1, 1, 3, 3})},
                          {{"strides", ints({2, 2})}, {"auto_pad", std::string("SAME_UPPER")}});
    EXPECT_EQ(y[0].shape(), (Shape{1, 1, 8, 8}));
}

TEST(Conv, EmptyBatch) {
    EXPECT_EQ(run_op("Conv", 11, {f32({0, 1, 3, 3}, {}), ramp({2, 1, 3, 3})})[0].shape(), (Shape{0, 2, 1, 1}));
}

TEST(Conv, RefusesWhatIsWrong) {
    const auto x = ramp({1, 2, 4, 4});
    const auto w = ramp({2, 2, 3, 3});
    const int64_t huge = std::numeric_limits<int64_t>::max();
    EXPECT_THROW(run_op("Conv", 11, {x, w}, {{"group", int64_t{0}}}), UserError);
    EXPECT_THROW(run_op("Conv", 11, {x, w}, {{"group", int64_t{2}}}), UserError);
    EXPECT_THROW(run_op("Conv", 11, {x, w}, {{"strides", ints({0, 1})}}), UserError);
    EXPECT_THROW(run_op("Conv", 11, {x, w}, {{"strides", ints({1})}}), UserError);
    EXPECT_THROW(run_op("Conv", 11, {x, w}, {{"pads", ints({huge, huge, huge, huge})}}), UserError);
    EXPECT_THROW(run_op("Conv", 11, {x, w}, {{"dilations", ints({huge, 1})}}), UserError);
    EXPECT_THROW(run_op("Conv", 11, {x, w}, {{"kernel_shape", ints({3, 2})}}), UserError);
    EXPECT_THROW(run_op("Conv", 11, {x, w, ramp({3})}), UserError);
    EXPECT_THROW(run_op("Conv", 11, {ramp({1, 2, 2, 2}), w}), UserError);
    EXPECT_THROW(run_op("MaxPool", 12, {x}), UserError);
}

}  // namespace
}  // namespace headway
