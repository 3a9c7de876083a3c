#include "ops/testing.h"

// Expected values were computed with ONNX Runtime and the ONNX reference, which agree where both handle a case.
namespace headway {
namespace {

using namespace testing;

TEST(NonMaxSuppression, FlippedCornersAndTies) {
    {
        const auto y = run_op(
            "NonMaxSuppression", 11,
            {f32({1, 4, 4}, {0, 0, 1, 1, 1, 1, 0, 0.100000001F, 0, 0.600000024F, 1, 1.60000002F, 5, 5, 6, 6}),
             f32({1, 2, 4},
                 {0.5F, 0.5F, 0.899999976F, 0.100000001F, 0.200000003F, 0.300000012F, 0.300000012F, 0.300000012F}),
             i64({1}, {3}), f32({1}, {0.200000003F}), f32({1}, {0.150000006F})},
            {}, 1);
        expect_values(y[0], {3, 3}, {0, 0, 2, 0, 1, 1, 0, 1, 3});
    }
    {
        const auto y = run_op("NonMaxSuppression", 11,
                              {f32({1, 3, 4}, {1, 1, 2, 2, 1, 1.5F, 2, 2, 9, 9, 1, 1}),
                               f32({1, 1, 3}, {0.5F, 0.600000024F, 0.699999988F}), i64({1}, {10}), f32({1}, {0.5F})},
                              {{"center_point_box", int64_t{1}}}, 1);
        expect_values(y[0], {2, 3}, {0, 0, 2, 0, 0, 1});
    }
}

TEST(NonMaxSuppression, NothingStaysByDefault) {
    const auto y = run_op("NonMaxSuppression", 11, {ramp({1, 2, 4}), ramp({1, 1, 2})});
    expect_values(y[0], {0, 3}, {});
    EXPECT_THROW(run_op("NonMaxSuppression", 11, {ramp({1, 2, 4}), f32({1, 1, 2}, {0, nan_f}), i64({1}, {2})}),
                 UserError);
    EXPECT_THROW(run_op("NonMaxSuppression", 11, {ramp({1, 3, 4}), ramp({1, 1, 2})}), UserError);
}

TEST(Unique, AxesAndOrders) {
    {
        const auto y = run_op("Unique", 11, {f32({2, 4}, {3, 1, 3, 2, 0, 5, 0, 4})},
                              {{"axis", int64_t{1}}, {"sorted", int64_t{0}}}, 4);
        expect_values(y[0], {2, 3}, {3, 1, 2, 0, 5, 4});
        expect_values(y[1], {3}, {0, 1, 3});
        expect_values(y[2], {4}, {0, 1, 0, 2});
        expect_values(y[3], {3}, {2, 1, 1});
    }
    {
        const auto y = run_op("Unique", 11, {i64({4, -1, 4, 4, 0})}, {}, 4);
        expect_values(y[0], {3}, {-1, 0, 4});
        expect_values(y[1], {3}, {1, 4, 0});
        expect_values(y[2], {5}, {2, 0, 2, 2, 1});
        expect_values(y[3], {3}, {1, 1, 3});
    }
}

TEST(Unique, EmptyBooleanAndNotANumber) {
    const auto y = run_op("Unique", 11, {of_type(ElementType::boolean, {3}, {1, 0, 1})}, {{"sorted", int64_t{0}}}, 4);
    expect_values(y[0], {2}, {1, 0});
    expect_values(y[1], {2}, {0, 1});
    expect_values(y[2], {3}, {0, 1, 0});
    expect_values(y[3], {2}, {2, 1});
    expect_values(run_op("Unique", 11, {f32({0}, {})})[0], {0}, {});
    EXPECT_THROW(run_op("Unique", 11, {f32({2}, {1, nan_f})}), UserError);
}

TEST(MaxUnpool, OneAxisWithPads) {
    {
        const auto y = run_op("MaxUnpool", 11, {f32({1, 2, 2}, {5, 6, 7, 8}), i64({1, 2, 2}, {0, 3, 4, 6})},
                              {{"kernel_shape", ints({3})}, {"strides", ints({2})}, {"pads", ints({1, 0})}}, 1);
        expect_values(y[0], {1, 2, 4}, {5, 0, 0, 6, 7, 0, 8, 0});
    }
}

TEST(MaxUnpool, RefusesIndicesOutside) {
    const NamedAttributes attributes{{"kernel_shape", ints({2})}, {"strides", ints({2})}};
    EXPECT_THROW(run_op("MaxUnpool", 11, {ramp({1, 1, 2}), i64({1, 1, 2}, {0, 4})}, attributes), UserError);
    EXPECT_THROW(run_op("MaxUnpool", 11, {ramp({1, 1, 2}), i64({1, 1, 2}, {0, -1})}, attributes), UserError);
    EXPECT_THROW(run_op("MaxUnpool", 11, {ramp({1, 1, 2}), i64({1, 1, 2}, {0, 1}), i64({1, 1, 3})}, attributes),
                 UserError);
}

TEST(CenterCropPad, OddDifferences) {
    {
        const auto y =
            run_op("CenterCropPad", 18, {ramp({2, 5, 1}, 1.0F, 1.0F), i64({2, 4})}, {{"axes", ints({-2, -1})}}, 1);
        expect_values(y[0], {2, 2, 4}, {0, 2, 0, 0, 0, 3, 0, 0, 0, 7, 0, 0, 0, 8, 0, 0});
    }
    {
        const auto y = run_op("CenterCropPad", 18, {ramp({2, 3}, 1.0F, 1.0F), i64({5, 2})}, {}, 1);
        expect_values(y[0], {5, 2}, {0, 0, 1, 2, 4, 5, 0, 0, 0, 0});
    }
}

TEST(Col2Im, OneAxisOfIntegers) {
    {
        const auto y = run_op("Col2Im", 18,
                              {of_type(ElementType::i32, {1, 4, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}),
                               i64({1}, {4}), i64({1}, {2})},
                              {{"strides", ints({2})}, {"pads", ints({1, 1})}}, 1);
        expect_values(y[0], {1, 2, 4}, {4, 2, 5, 3, 10, 8, 11, 9});
    }
}

TEST(Col2Im, RefusesOtherNumbersOfBlocks) {
    EXPECT_THROW(run_op("Col2Im", 18, {ramp({1, 4, 3}), i64({5, 5}), i64({2, 2})}), UserError);
    EXPECT_THROW(run_op("Col2Im", 18, {ramp({1, 3, 16}), i64({5, 5}), i64({2, 2})}), UserError);
    EXPECT_THROW(run_op("Col2Im", 18, {ramp({1, 4, 16}), i64({5, 5}), i64({0, 2})}), UserError);
}

}  // namespace
}  // namespace headway
