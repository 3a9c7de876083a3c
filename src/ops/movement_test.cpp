#include "ops/testing.h"

// Expected values were computed with ONNX Runtime and the ONNX reference, which agree where both handle a case.
namespace headway {
namespace {

using namespace testing;

TEST(Slice, NegativeStepsAndClamping) {
    {
        const auto y = run_op(
            "Slice", 13,
            {ramp({2, 5}, 0.0F, 1.0F), i64({2}, {-1, 4}), i64({2}, {-100, 0}), i64({2}, {0, 1}), i64({2}, {-1, -2})},
            {}, 1);
        expect_values(y[0], {2, 2}, {9, 7, 4, 2});
    }
    {
        const auto y =
            run_op("Slice", 13,
                   {ramp({2, 5}, 0.0F, 1.0F), i64({1}, {3}), i64({1}, {9223372036854775807}), i64({1}, {1})}, {}, 1);
        expect_values(y[0], {2, 2}, {3, 4, 8, 9});
    }
    {
        const auto y =
            run_op("Slice", 13, {ramp({2, 5}, 0.0F, 1.0F), i64({1}, {4}), i64({1}, {1}), i64({1}, {1})}, {}, 1);
        expect_values(y[0], {2, 0}, {});
    }
    {
        const auto y =
            run_op("Slice", 1, {ramp({2, 5}, 0.0F, 1.0F)}, {{"starts", ints({0, -3})}, {"ends", ints({1, -1})}}, 1);
        expect_values(y[0], {1, 2}, {2, 3});
    }
}

TEST(Pad, ModesAndNegativePads) {
    {
        const auto y =
            run_op("Pad", 13, {f32({2, 3}, {1, 2, 3, 4, 5, 6}), i64({4}, {0, -1, 1, 2}), f32({}, {9})}, {}, 1);
        expect_values(y[0], {3, 4}, {2, 3, 9, 9, 5, 6, 9, 9, 9, 9, 9, 9});
    }
    {
        const auto y = run_op("Pad", 19, {ramp({1, 3}, 0.0F, 1.0F), i64({4}, {0, 2, 0, 2})},
                              {{"mode", std::string("reflect")}}, 1);
        expect_values(y[0], {1, 7}, {2, 1, 0, 1, 2, 1, 0});
    }
    {
        const auto y =
            run_op("Pad", 19, {ramp({1, 3}, 0.0F, 1.0F), i64({4}, {0, 5, 0, 5})}, {{"mode", std::string("wrap")}}, 1);
        expect_values(y[0], {1, 13}, {1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1});
    }
    {
        const auto y = run_op("Pad", 18, {ramp({2, 2}, 0.0F, 1.0F), i64({2}, {1, 0}), Tensor{}, i64({1}, {-2})},
                              {{"mode", std::string("edge")}}, 1);
        expect_values(y[0], {3, 2}, {0, 1, 0, 1, 2, 3});
    }
}

TEST(Gather, AxesAndNegativeIndices) {
    {
        const auto y = run_op("Gather", 13, {ramp({2, 3}, 0.0F, 1.0F), i64({2}, {-1, 0})}, {{"axis", int64_t{1}}}, 1);
        expect_values(y[0], {2, 2}, {2, 0, 5, 3});
    }
    {
        const auto y = run_op("GatherElements", 13, {ramp({2, 3}, 0.0F, 1.0F), i64({2, 3}, {0, -1, 1, 1, 0, 0})},
                              {{"axis", int64_t{0}}}, 1);
        expect_values(y[0], {2, 3}, {0, 4, 5, 3, 1, 2});
    }
    {
        const auto y =
            run_op("GatherND", 13, {ramp({2, 2, 2}, 0.0F, 1.0F), i64({2, 1}, {1, 0})}, {{"batch_dims", int64_t{1}}}, 1);
        expect_values(y[0], {2, 2}, {2, 3, 4, 5});
    }
}

TEST(Scatter, ReducesAndReplaces) {
    {
        const auto y = run_op("ScatterND", 16, {ramp({4}, 0.0F, 1.0F), i64({3, 1}, {1, 1, 3}), f32({3}, {10, 20, 30})},
                              {{"reduction", std::string("add")}}, 1);
        expect_values(y[0], {4}, {0, 31, 2, 33});
    }
    {
        const auto y = run_op("ScatterElements", 16,
                              {ramp({2, 3}, 0.0F, 1.0F), i64({1, 3}, {1, 0, 1}), f32({1, 3}, {7, 8, 9})}, {}, 1);
        expect_values(y[0], {2, 3}, {0, 8, 2, 7, 4, 9});
    }
    {
        const auto y = run_op("Scatter", 9, {ramp({3}), i64({2}, {2, 0}), f32({2}, {7, 8})});
        expect_values(y[0], {3}, {8, 1, 7});
    }
}

TEST(Movement, TransposeTileSplitDepthToSpace) {
    {
        const auto y = run_op("Transpose", 13, {ramp({2, 1, 3}, 0.0F, 1.0F)}, {{"perm", ints({2, 0, 1})}}, 1);
        expect_values(y[0], {3, 2, 1}, {0, 3, 1, 4, 2, 5});
    }
    {
        const auto y = run_op("Tile", 13, {ramp({2, 2}, 0.0F, 1.0F), i64({2}, {1, 2})}, {}, 1);
        expect_values(y[0], {2, 4}, {0, 1, 0, 1, 2, 3, 2, 3});
    }
    {
        const auto y = run_op("Split", 13, {ramp({3, 2}, 0.0F, 1.0F), i64({2}, {1, 2})}, {}, 2);
        expect_values(y[0], {1, 2}, {0, 1});
        expect_values(y[1], {2, 2}, {2, 3, 4, 5});
    }
    {
        const auto y = run_op("DepthToSpace", 13, {ramp({1, 8, 1, 1}, 0.0F, 1.0F)}, {{"blocksize", int64_t{2}}}, 1);
        expect_values(y[0], {1, 2, 2, 2}, {0, 2, 4, 6, 1, 3, 5, 7});
    }
    {
        const auto y = run_op("DepthToSpace", 13, {ramp({1, 8, 1, 1}, 0.0F, 1.0F)},
                              {{"blocksize", int64_t{2}}, {"mode", std::string("CRD")}}, 1);
        expect_values(y[0], {1, 2, 2, 2}, {0, 1, 2, 3, 4, 5, 6, 7});
    }
    {
        const auto y = run_op("SpaceToDepth", 13, {ramp({1, 1, 2, 4}, 0.0F, 1.0F)}, {{"blocksize", int64_t{2}}}, 1);
        expect_values(y[0], {1, 4, 1, 2}, {0, 2, 1, 3, 4, 6, 5, 7});
    }
    {
        const auto y =
            run_op("Concat", 13, {ramp({1, 2}, 0.0F, 1.0F), ramp({1, 0}, 0.0F, 1.0F), ramp({1, 1}, 5.0F, 1.0F)},
                   {{"axis", int64_t{1}}}, 1);
        expect_values(y[0], {1, 3}, {0, 1, 5});
    }
}

TEST(Select, TopKArgMaxTrilu) {
    {
        const auto y = run_op("TopK", 11, {f32({4}, {3, 1, 3, 2}), i64({1}, {3})}, {}, 2);
        expect_values(y[0], {3}, {3, 3, 2});
        expect_values(y[1], {3}, {0, 2, 3});
    }
    {
        const auto y = run_op("TopK", 11, {ramp({2, 3}, 0.0F, 1.0F), i64({1}, {1})},
                              {{"axis", int64_t{0}}, {"largest", int64_t{0}}}, 2);
        expect_values(y[0], {1, 3}, {0, 1, 2});
        expect_values(y[1], {1, 3}, {0, 0, 0});
    }
    {
        const auto y = run_op("ArgMax", 13, {f32({1, 3}, {1, 3, 3})},
                              {{"axis", int64_t{1}}, {"select_last_index", int64_t{1}}}, 1);
        expect_values(y[0], {1, 1}, {2});
    }
    {
        const auto y = run_op("Trilu", 14, {ramp({3, 3}, 1.0F, 1.0F), i64({}, {1})}, {{"upper", int64_t{0}}}, 1);
        expect_values(y[0], {3, 3}, {1, 2, 0, 4, 5, 6, 7, 8, 9});
    }
    {
        const auto y = run_op("CumSum", 14, {ramp({2, 2}, 1.0F, 1.0F), i64({}, {1})},
                              {{"exclusive", int64_t{1}}, {"reverse", int64_t{1}}}, 1);
        expect_values(y[0], {2, 2}, {2, 0, 4, 0});
    }
    {
        const auto y = run_op("OneHot", 11, {i64({3}, {1, -1, 5}), i64({1}, {3}), f32({2}, {0, 2})}, {}, 1);
        expect_values(y[0], {3, 3}, {0, 2, 0, 0, 0, 2, 0, 0, 0});
    }
}

TEST(Pad, ReflectsAsOftenAsNeeded) {
    const auto y = run_op("Pad", 13, {f32({3, 2}, {1, 1.2F, 2.3F, 3.4F, 4.5F, 5.7F}), i64({0, 2, 0, 0})},
                          {{"mode", std::string("reflect")}});
    expect_values(y[0], {3, 4}, {1, 1.2, 1, 1.2, 2.3, 3.4, 2.3, 3.4, 4.5, 5.7, 4.5, 5.7});
}

TEST(Pad, RefusesWhatIsWrong) {
    const int64_t huge = std::numeric_limits<int64_t>::max();
    EXPECT_THROW(run_op("Pad", 13, {ramp({2}), i64({huge, huge})}), UserError);
    EXPECT_THROW(run_op("Pad", 13, {ramp({2}), i64({-2, -1})}), UserError);
    EXPECT_THROW(run_op("Pad", 13, {f32({0}, {}), i64({1, 1})}, {{"mode", std::string("edge")}}), UserError);
    EXPECT_THROW(run_op("Pad", 13, {ramp({2}), i64({1})}), UserError);
}

TEST(Cast, SaturatesTruncatesAndWraps) {
    const auto cast = [](const Tensor& x, ElementType to) {
        return run_op("Cast", 13, {x}, {{"to", static_cast<int64_t>(to)}})[0];
    };
    expect_values(cast(f32({6}, {300, -300, nan_f, inf_f, -1.9F, 1.9F}), ElementType::i8), {6},
                  {127, -128, 0, 127, -1, 1});
    expect_values(cast(f32({3}, {0, nan_f, -0.5F}), ElementType::boolean), {3}, {0, 1, 1});
    expect_values(cast(i64({257, -1}), ElementType::u8), {2}, {1, 255});
    EXPECT_EQ(cast(f32({1}, {1e30F}), ElementType::i64).data<int64_t>()[0], std::numeric_limits<int64_t>::max());
    EXPECT_EQ(cast(i64({(int64_t{1} << 62) + 1}), ElementType::u64).data<uint64_t>()[0], (uint64_t{1} << 62) + 1);
    EXPECT_THROW(cast(f32({1}, {1}), ElementType::string), Unsupported);
    EXPECT_THROW(run_op("Cast", 13, {f32({1}, {1})}, {{"to", int64_t{999}}}), Unsupported);
}

TEST(TopK, NanIsLargestAndTiesKeepTheirOrder) {
    const auto y = run_op("TopK", 11, {f32({4}, {1, nan_f, 1, 2}), i64({3})}, {}, 2);
    expect_values(y[0], {3}, {NAN, 2, 1});
    expect_values(y[1], {3}, {1, 3, 0});
    EXPECT_THROW(run_op("TopK", 11, {ramp({2}), i64({3})}, {}, 2), UserError);
}

TEST(Movement, ZeroSizes) {
    EXPECT_EQ(run_op("Tile", 13, {ramp({4}), i64({0})})[0].shape(), (Shape{0}));
    EXPECT_EQ(run_op("Transpose", 13, {f32({0, 3}, {})})[0].shape(), (Shape{3, 0}));
    EXPECT_EQ(run_op("Gather", 13, {ramp({2, 3}), i64({0}, {})})[0].shape(), (Shape{0, 3}));
    EXPECT_EQ(run_op("Expand", 13, {f32({0, 1}, {}), i64({0, 4})})[0].shape(), (Shape{0, 4}));
    EXPECT_EQ(run_op("NonZero", 13, {f32({2}, {0, 0})})[0].shape(), (Shape{1, 0}));
}

TEST(Movement, IndicesFromDataAreChecked) {
    const int64_t least = std::numeric_limits<int64_t>::min();
    for (int64_t index : {int64_t{3}, int64_t{-4}, least}) {
        EXPECT_THROW(run_op("Gather", 13, {ramp({3}), i64({index})}), UserError);
        EXPECT_THROW(run_op("GatherElements", 13, {ramp({3}), i64({index})}), UserError);
        EXPECT_THROW(run_op("GatherND", 13, {ramp({3}), i64({1, 1}, {index})}), UserError);
        EXPECT_THROW(run_op("ScatterND", 16, {ramp({3}), i64({1, 1}, {index}), ramp({1})}), UserError);
        EXPECT_THROW(run_op("ScatterElements", 16, {ramp({3}), i64({index}), ramp({1})}), UserError);
    }
    EXPECT_THROW(run_op("Slice", 13, {ramp({3}), i64({0}), i64({3}), i64({0}), i64({0})}), UserError);
    expect_values(run_op("Slice", 13, {ramp({3}), i64({2}), i64({least}), i64({0}), i64({least})})[0], {1}, {2});
}

TEST(Reshape, ZerosAndFreeExtents) {
    EXPECT_EQ(run_op("Reshape", 14, {ramp({2, 3, 4}), i64({0, -1})})[0].shape(), (Shape{2, 12}));
    EXPECT_EQ(run_op("Reshape", 14, {f32({0, 3}, {}), i64({3, 0})}, {{"allowzero", int64_t{1}}})[0].shape(),
              (Shape{3, 0}));
    EXPECT_THROW(run_op("Reshape", 14, {ramp({2, 3}), i64({-1, -1})}), UserError);
    EXPECT_THROW(run_op("Reshape", 14, {ramp({2, 3}), i64({4, -1})}), UserError);
    EXPECT_THROW(run_op("Reshape", 14, {ramp({2, 3}), i64({5})}), UserError);
    EXPECT_THROW(run_op("Reshape", 14, {ramp({2}), i64({0, 0})}), UserError);
    EXPECT_THROW(run_op("Transpose", 13, {ramp({2, 3})}, {{"perm", ints({0})}}), UserError);
    EXPECT_THROW(run_op("Transpose", 13, {ramp({2, 3})}, {{"perm", ints({0, 0})}}), UserError);
}

}  // namespace
}  // namespace headway
