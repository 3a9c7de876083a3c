#include "ops/testing.h"

// Expected values were computed with ONNX Runtime and the ONNX reference, which agree where both handle a case.
namespace headway {
namespace {

using namespace testing;

TEST(GridSample, ModesAndPaddingOutside) {
    {
        const auto y =
            run_op("GridSample", 20,
                   {ramp({1, 2, 3, 4}, -1.0F, 0.5F),
                    f32({1, 2, 3, 2}, {-1.70000005F, 0.300000012F, 0.200000003F, -0.400000006F, 3.70000005F,
                                       -5.19999981F, 0.949999988F, 0.99000001F, -0.50999999F, 1.29999995F, 0, 0})},
                   {{"mode", std::string("cubic")},
                    {"padding_mode", std::string("reflection")},
                    {"align_corners", int64_t{1}}},
                   1);
        expect_values(y[0], {1, 2, 2, 3},
                      {2.40868545, 0.739999175, -0.352312148, 4.49558735, 3.06290388, 1.75, 8.40868282, 6.73999691,
                       5.64769173, 10.4955854, 9.06290722, 7.75});
    }
    {
        const auto y =
            run_op("GridSample", 20,
                   {ramp({1, 1, 3, 4}, -1.0F, 0.5F),
                    f32({1, 2, 3, 2}, {-1.70000005F, 0.300000012F, 0.200000003F, -0.400000006F, 3.70000005F,
                                       -5.19999981F, 0.949999988F, 0.99000001F, -0.50999999F, 1.29999995F, 0, 0})},
                   {{"mode", std::string("nearest")}, {"padding_mode", std::string("reflection")}}, 1);
        expect_values(y[0], {1, 1, 2, 3}, {1.5, 0, -0.5, 4.5, 3, 2});
    }
    {
        const auto y =
            run_op("GridSample", 16,
                   {ramp({1, 1, 3, 4}, -1.0F, 0.5F),
                    f32({1, 2, 3, 2}, {-1.70000005F, 0.300000012F, 0.200000003F, -0.400000006F, 3.70000005F,
                                       -5.19999981F, 0.949999988F, 0.99000001F, -0.50999999F, 1.29999995F, 0, 0})},
                   {{"mode", std::string("bilinear")},
                    {"padding_mode", std::string("reflection")},
                    {"align_corners", int64_t{1}}},
                   1);
        expect_values(y[0], {1, 1, 2, 3}, {2.125, 1.10000014, -0.0750005245, 4.44250011, 2.76749992, 1.75});
    }
    {
        const auto y =
            run_op("GridSample", 16,
                   {ramp({1, 1, 3, 4}, -1.0F, 0.5F),
                    f32({1, 2, 3, 2}, {-1.70000005F, 0.300000012F, 0.200000003F, -0.400000006F, 3.70000005F,
                                       -5.19999981F, 0.949999988F, 0.99000001F, -0.50999999F, 1.29999995F, 0, 0})},
                   {{"mode", std::string("bicubic")}, {"padding_mode", std::string("zeros")}}, 1);
        expect_values(y[0], {1, 1, 2, 3}, {-0.0158114918, 0.55665648, 0, 1.5694654, 0.140947431, 1.75});
    }
}

TEST(GridSample, OtherRanks) {
    {
        const auto y = run_op(
            "GridSample", 20,
            {ramp({1, 1, 2, 3, 2}, 1.0F, 1.0F),
             f32({1, 1, 2, 1, 3}, {0.300000012F, -1.39999998F, 0.800000012F, -0.200000003F, 0.600000024F, 2.0999999F})},
            {{"mode", std::string("linear")}, {"padding_mode", std::string("border")}}, 1);
        expect_values(y[0], {1, 1, 1, 2, 1}, {7.80000019, 11.1000004});
    }
    // a single element reflects into itself
    const auto y = run_op("GridSample", 20, {ramp({1, 2, 1}, 1.0F, 1.0F), f32({1, 3, 1}, {-3, 0, 0.5F})},
                          {{"padding_mode", std::string("reflection")}, {"align_corners", int64_t{1}}});
    expect_values(y[0], {1, 2, 3}, {1, 1, 1, 2, 2, 2});
}

TEST(GridSample, NotANumberStaysOneAndFarIsZero) {
    const auto y = run_op("GridSample", 20, {ramp({1, 1, 2, 2}, 1.0F, 1.0F), f32({1, 1, 2, 2}, {nan_f, 0, inf_f, 0})});
    expect_values(y[0], {1, 1, 1, 2}, {nan_f, 0});
    EXPECT_THROW(run_op("GridSample", 20, {ramp({1, 1, 2, 2}), ramp({1, 1, 1, 3})}), UserError);
    EXPECT_THROW(run_op("GridSample", 20, {ramp({1, 1, 0, 2}), ramp({1, 1, 1, 2})}), UserError);
}

// At -0.5, 3.25 and 99 of the elements 0, 1, 4, 9: the border stands for each element outside.
TEST(GridSample, CubicTakesTheBorderForEachElementOutside) {
    const auto y = run_op(
        "GridSample", 20, {f32({1, 1, 1, 4}, {0, 1, 4, 9}), f32({1, 1, 3, 2}, {-4.0F / 3, 0, 7.0F / 6, 0, 65, 0})},
        {{"mode", std::string("cubic")}, {"padding_mode", std::string("border")}, {"align_corners", int64_t{1}}});
    expect_values(y[0], {1, 1, 1, 3}, {-0.09375, 9.52734375, 9});
}

TEST(AffineGrid, OddExtents) {
    {
        const auto y = run_op("AffineGrid", 20, {ramp({1, 2, 3}, 0.5F, -0.25F), i64({1, 1, 2, 3})},
                              {{"align_corners", int64_t{1}}}, 1);
        expect_values(y[0], {1, 2, 3, 2}, {-0.75, 0, -0.25, -0.25, 0.25, -0.5, -0.25, -1, 0.25, -1.25, 0.75, -1.5});
    }
    {
        const auto y = run_op("AffineGrid", 20, {ramp({1, 3, 4}, 0.5F, -0.25F), i64({1, 1, 1, 2, 1})}, {}, 1);
        expect_values(y[0], {1, 1, 2, 1, 3}, {-0.375, -0.875, -1.375, -0.125, -1.625, -3.125});
    }
}

// A single element has its centre in the middle, where the ONNX reference divides by zero.
TEST(AffineGrid, SingleElement) {
    const auto y =
        run_op("AffineGrid", 20, {ramp({1, 2, 3}, 1.0F, 1.0F), i64({1, 1, 1, 1})}, {{"align_corners", int64_t{1}}});
    expect_values(y[0], {1, 1, 1, 2}, {3, 6});
}

TEST(RoiAlign, AdaptiveSamplesAndRegionsOutside) {
    {
        const auto y =
            run_op("RoiAlign", 16,
                   {ramp({2, 2, 4, 5}, -1.0F, 0.3F), f32({3, 4}, {0.5F, 1, 4.25F, 3.5F, -3, -2, 1, 9, 2, 2, 2, 2}),
                    i64({1, 0, 1})},
                   {{"output_height", int64_t{2}}, {"output_width", int64_t{3}}, {"spatial_scale", 0.75F}}, 1);
        expect_values(y[0], {3, 2, 2, 3}, {12.1812515, 12.4625006, 12.7437506, 13.5875006, 13.8687506,
                                           14.1499996, 18.1812515, 18.4625015, 18.7437496, 19.5874996,
                                           19.8687515, 20.1500015, 0,          0,          -0.00124995713,
                                           0,          0,          1.2612499,  0,          0,
                                           4.79874992, 0,          0,          3.66124988, 0,
                                           0,          0,          0,          0,          0,
                                           0,          0,          0,          0,          0,
                                           0});
    }
    {
        const auto y =
            run_op("RoiAlign", 10,
                   {ramp({1, 1, 4, 5}, -1.0F, 0.3F), f32({2, 4}, {0.5F, 1, 4.25F, 3.5F, 2, 2, 2, 2}), i64({0, 0})},
                   {{"output_height", int64_t{2}}, {"output_width", int64_t{1}}, {"sampling_ratio", int64_t{2}}}, 1);
        expect_values(y[0], {2, 1, 2, 1}, {2.1500001, 3.8843751, 3.12500048, 3.875});
    }
    {
        const auto y =
            run_op("RoiAlign", 16,
                   {ramp({1, 1, 4, 5}, 1.0F, 0.3F), f32({2, 4}, {0.5F, 1, 4.25F, 3.5F, 3, 3, 8, 8}), i64({0, 0})},
                   {{"output_height", int64_t{2}},
                    {"output_width", int64_t{2}},
                    {"mode", std::string("max")},
                    {"coordinate_transformation_mode", std::string("output_half_pixel")}},
                   1);
        expect_values(y[0], {2, 1, 2, 2}, {3.90820336, 3.87597656, 5.6187501, 5.4000001, 6.70000029, 0, 0, 0});
    }
}

TEST(MaxRoiPool, RegionsAcrossAndOutsideTheInput) {
    std::vector<float> x;
    for (int i = 0; i < 140; ++i) x.push_back(static_cast<float>(i * 37 % 101));
    const Tensor rois = f32({5, 5}, {0, 0, 0, 12, 8, 1, 3, 1, 9, 6, 1, 5, 4, 5, 4, 0, 20, 20, 30, 30, 1, -6, -4, 2, 2});
    for (const int version : {1, 22})
        expect_values(run_op("MaxRoiPool", version, {f32({2, 2, 5, 7}, x), rois},
                             {{"pooled_shape", ints({2, 3})}, {"spatial_scale", 0.5F}})[0],
                      {5, 2, 2, 3}, {94, 87, 97, 100, 100, 97, 96, 93, 86, 96, 99, 99,   //
                                     95, 88, 68, 88,  88,  81, 77, 70, 87, 90, 70, 100,  //
                                     88, 88, 88, 88,  88,  88, 70, 70, 70, 70, 70, 70,   //
                                     0,  0,  0,  0,   0,   0,  0,  0,  0,  0,  0,  0,    //
                                     0,  0,  0,  0,   65,  65, 0,  0,  0,  0,  47, 84});
    expect_values(run_op("MaxRoiPool", 22, {f32({1, 1, 1, 2}, {nan_f, 1}), f32({1, 5}, {0, 0, 0, 1, 0})},
                         {{"pooled_shape", ints({1, 1})}})[0],
                  {1, 1, 1, 1}, {nan_f});
    expect_values(run_op("MaxRoiPool", 22, {ramp({1, 3, 2, 2}), f32({0, 5}, {})}, {{"pooled_shape", ints({2, 2})}})[0],
                  {0, 3, 2, 2}, {});
}

TEST(MaxRoiPool, RefusesRegionsOfNoImage) {
    const auto run = [](const Tensor& rois, std::vector<int64_t> pooled) {
        return run_op("MaxRoiPool", 22, {ramp({1, 1, 2, 2}), rois}, {{"pooled_shape", std::move(pooled)}});
    };
    for (const float image : {-1.0F, 1.0F, nan_f, 1e30F})
        EXPECT_THROW(run(f32({1, 5}, {image, 0, 0, 1, 1}), {1, 1}), UserError) << image;
    EXPECT_THROW(run(f32({1, 5}, {0, 0, inf_f, 1, 1}), {1, 1}), UserError);
    EXPECT_THROW(run(f32({1, 5}, {0, 0, 0, 1, 1}), {0, 1}), UserError);
    EXPECT_THROW(run(f32({1, 5}, {0, 0, 0, 1, 1}), {1}), UserError);
    EXPECT_THROW(run(f32({1, 4}, {0, 0, 0, 1}), {1, 1}), UserError);
}

TEST(RoiAlign, RefusesRegionsOfNoImage) {
    EXPECT_THROW(run_op("RoiAlign", 16, {ramp({1, 1, 2, 2}), ramp({1, 4}), i64({1}, {1})}), UserError);
    EXPECT_THROW(run_op("RoiAlign", 16, {ramp({1, 1, 2, 2}), f32({1, 4}, {0, 0, nan_f, 1}), i64({1}, {0})}), UserError);
    EXPECT_THROW(run_op("RoiAlign", 16, {ramp({1, 1, 2, 2}), f32({1, 4}, {0, 0, 1e9F, 1}), i64({1}, {0})}), UserError);
}

TEST(DeformConv, GroupsStridesAndMask) {
    {
        const auto y = run_op("DeformConv", 19,
                              {ramp({1, 4, 4, 5}, -1.0F, 0.1F), ramp({2, 2, 2, 2}, -0.4F, 0.1F),
                               ramp({1, 16, 2, 2}, -1.5F, 0.07F), f32({2}, {0.5F, -1}), ramp({1, 8, 2, 2}, 0.0F, 0.1F)},
                              {{"group", int64_t{2}},
                               {"offset_group", int64_t{2}},
                               {"strides", ints({2, 2})},
                               {"dilations", ints({1, 2})},
                               {"pads", ints({0, 0, 1, 0})}},
                              1);
        expect_values(y[0], {1, 2, 2, 2},
                      {1.47759676, 1.25122225, 1.7661438, 1.38244104, 51.0505524, 28.6199608, 22.3417854, 12.9794397});
    }
}

TEST(DeformConv, ZeroOffsetsAreConv) {
    const Tensor x = ramp({2, 2, 3, 4}, -1.0F, 0.1F);
    const Tensor w = ramp({3, 2, 2, 2}, -0.4F, 0.05F);
    const auto want = run_op("Conv", 22, {x, w}, {{"pads", ints({1, 0, 0, 1})}});
    const auto got = run_op("DeformConv", 22, {x, w, ramp({2, 8, 3, 4}, 0, 0)}, {{"pads", ints({1, 0, 0, 1})}});
    std::vector<double> values;
    for (int64_t i = 0; i < want[0].elements(); ++i) values.push_back(want[0].at(i));
    expect_values(got[0], {2, 3, 3, 4}, values);
    EXPECT_THROW(run_op("DeformConv", 22, {x, w, ramp({2, 8, 2, 4})}), UserError);
}

}  // namespace
}  // namespace headway
