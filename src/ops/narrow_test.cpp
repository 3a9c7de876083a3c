#include "ops/testing.h"

// Element types of eight bits and fewer: what the ONNX cases leave out. Expected values follow the tables of ONNX's
// Cast and QuantizeLinear.
namespace headway {
namespace {

using namespace testing;

Tensor cast(const Tensor& x, ElementType to, NamedAttributes more = {}) {
    more.emplace_back("to", static_cast<int64_t>(to));
    return run_op("Cast", 25, {x}, more)[0];
}

const NamedAttributes unsaturated{{"saturate", int64_t{0}}};

TEST(NarrowCast, RoundsOnceAndSaturatesWhereAsked) {
    const Tensor x = f32({4}, {1.0625F, 500, -inf_f, nan_f});
    expect_values(cast(x, ElementType::f8e4m3fn), {4}, {1, 448, -448, NAN});
    expect_values(cast(x, ElementType::f8e4m3fn, unsaturated), {4}, {1, NAN, NAN, NAN});
    expect_values(cast(x, ElementType::f8e5m2, unsaturated), {4}, {1, 512, -HUGE_VAL, NAN});
    expect_values(cast(i64({1000, -3}), ElementType::f8e4m3fnuz), {2}, {240, -3});
    expect_values(cast(of_type(ElementType::boolean, {2}, {1, 0}), ElementType::f4e2m1), {2}, {1, 0});
}

TEST(NarrowCast, PowersOfTwo) {
    const auto mode = [](const char* name) { return NamedAttributes{{"round_mode", std::string(name)}}; };
    const Tensor x = f32({3}, {3, 5, 0.75F});
    expect_values(cast(x, ElementType::f8e8m0), {3}, {4, 8, 1});
    expect_values(cast(x, ElementType::f8e8m0, mode("down")), {3}, {2, 4, 0.5});
    expect_values(cast(x, ElementType::f8e8m0, mode("nearest")), {3}, {4, 4, 1});
    EXPECT_THROW(cast(x, ElementType::f8e8m0, mode("sideways")), UserError);
}

TEST(NarrowCast, FromNarrowTypesIsExact) {
    const Tensor e4m3 = of_type(ElementType::f8e4m3fn, {3}, {-448, 0.5, 1.75});
    expect_values(cast(e4m3, ElementType::f32), {3}, {-448, 0.5, 1.75});
    expect_values(cast(e4m3, ElementType::i8), {3}, {-128, 0, 1});
    expect_values(cast(e4m3, ElementType::f8e5m2), {3}, {-448, 0.5, 1.75});
    expect_values(cast(of_type(ElementType::i4, {2}, {-8, 7}), ElementType::i64), {2}, {-8, 7});
    expect_values(cast(of_type(ElementType::u4, {2}, {15, 7}), ElementType::boolean), {2}, {1, 1});
}

TEST(NarrowCast, IntegersKeepTheirLowBits) {
    expect_values(cast(i64({17, -9, 200}), ElementType::i4), {3}, {1, 7, -8});
    expect_values(cast(of_type(ElementType::i4, {2}, {-1, 7}), ElementType::u2), {2}, {3, 3});
    expect_values(cast(f32({3}, {-1.9F, 5.9F, nan_f}), ElementType::i2), {3}, {-1, 1, 0});
}

TEST(NarrowCast, CastLikeTakesTheTypeOnly) {
    const Tensor y = run_op("CastLike", 25, {f32({1}, {3}), of_type(ElementType::u2, {2}, {0, 1})})[0];
    EXPECT_EQ(y.type(), ElementType::u2);
    expect_values(y, {1}, {3});
}

TEST(BitCast, KeepsBitsOfEveryWidth) {
    const auto bit_cast = [](const Tensor& x, ElementType to) {
        return run_op("BitCast", 26, {x}, {{"to", static_cast<int64_t>(to)}})[0];
    };
    const Tensor negative = of_type(ElementType::i4, {2}, {-1, 3});
    expect_values(bit_cast(negative, ElementType::u4), {2}, {15, 3});
    expect_values(bit_cast(negative, ElementType::f4e2m1), {2}, {-6, 1.5});
    expect_values(bit_cast(of_type(ElementType::u4, {2}, {15, 3}), ElementType::i4), {2}, {-1, 3});
    expect_values(bit_cast(of_type(ElementType::u8, {1}, {0xFE}), ElementType::f8e4m3fn), {1}, {-448});
    expect_values(bit_cast(f32({}, {1}), ElementType::i32), {}, {0x3F800000});
    EXPECT_THROW(bit_cast(f32({}, {1}), ElementType::i64), UserError);
    EXPECT_THROW(bit_cast(of_type(ElementType::u8, {1}, {2}), ElementType::boolean), UserError);
    EXPECT_THROW(bit_cast(f32({}, {1}), ElementType::string), Unsupported);
}

TEST(NarrowQuantize, EveryTypeHasItsRange) {
    const Tensor x = f32({4}, {-1000, 1000, 2.5F, 3.5F});
    const auto quantize = [&](ElementType type) {
        return run_op("QuantizeLinear", 25, {x, f32({}, {1}), of_type(type, {}, {0})})[0];
    };
    expect_values(quantize(ElementType::u4), {4}, {0, 15, 2, 4});
    expect_values(quantize(ElementType::i4), {4}, {-8, 7, 2, 4});
    expect_values(quantize(ElementType::u2), {4}, {0, 3, 2, 3});
    expect_values(quantize(ElementType::i2), {4}, {-2, 1, 1, 1});
    expect_values(quantize(ElementType::f8e4m3fn), {4}, {-448, 448, 2.5, 3.5});
    expect_values(quantize(ElementType::f4e2m1), {4}, {-6, 6, 2, 4});
    const Tensor open =
        run_op("QuantizeLinear", 25, {x, f32({}, {1})}, {{"saturate", int64_t{0}}, {"output_dtype", int64_t{17}}})[0];
    expect_values(open, {4}, {NAN, NAN, 2.5, 3.5});
}

TEST(NarrowQuantize, BlocksOfInt4) {
    const Tensor scale = f32({1, 2}, {1, 10});
    const NamedAttributes blocks{{"axis", int64_t{1}}, {"block_size", int64_t{2}}};
    const Tensor y = run_op("QuantizeLinear", 25,
                            {f32({1, 3}, {1, 2, 30}), scale, of_type(ElementType::i4, {1, 2}, {1, -1})}, blocks)[0];
    expect_values(y, {1, 3}, {2, 3, 2});
    expect_values(run_op("DequantizeLinear", 25, {y, scale, of_type(ElementType::i4, {1, 2}, {1, -1})}, blocks)[0],
                  {1, 3}, {1, 2, 30});
}

TEST(NarrowQuantize, DividesInThePrecisionAsked) {
    const auto quantize = [](int version, ElementType scale, const NamedAttributes& attributes) {
        const Tensor x = f32({1}, {2051}), zero = of_type(ElementType::i16, {}, {0});  // 2051 is no f16
        return run_op("QuantizeLinear", version, {x, of_type(scale, {}, {1}), zero}, attributes)[0].at(0);
    };
    const NamedAttributes half{{"precision", static_cast<int64_t>(ElementType::f16)}};
    const NamedAttributes single{{"precision", static_cast<int64_t>(ElementType::f32)}};
    EXPECT_EQ(quantize(25, ElementType::f32, {}), 2051);
    EXPECT_EQ(quantize(25, ElementType::f32, half), 2052);
    EXPECT_EQ(quantize(25, ElementType::f16, {}), 2052);
    EXPECT_EQ(quantize(25, ElementType::f16, single), 2051);
    EXPECT_EQ(quantize(21, ElementType::f16, {}), 2051);
}

TEST(NarrowQuantize, ScalesOfPowersOfTwo) {
    const Tensor scale = of_type(ElementType::f8e8m0, {}, {4});
    expect_values(run_op("QuantizeLinear", 25, {f32({2}, {12, -8}), scale, of_type(ElementType::f4e2m1, {}, {0})})[0],
                  {2}, {3, -2});
    const Tensor x = of_type(ElementType::f4e2m1, {2}, {3, -2});
    expect_values(run_op("DequantizeLinear", 25, {x, scale}, {{"output_dtype", int64_t{10}}})[0], {2}, {12, -8});
    EXPECT_THROW(run_op("DequantizeLinear", 25, {x, scale}), Unsupported);
}

TEST(NarrowQuantize, RefusesWhatOnnxLeavesOpen) {
    EXPECT_THROW(run_op("QuantizeLinear", 25, {f32({1}, {1}), f32({}, {1}), of_type(ElementType::f8e4m3fn, {}, {1})}),
                 Unsupported);
    EXPECT_THROW(run_op("QuantizeLinear", 25, {f32({1}, {1}), f32({}, {1}), of_type(ElementType::u4, {}, {0})},
                        {{"output_dtype", int64_t{22}}}),
                 UserError);
    EXPECT_THROW(run_op("QuantizeLinear", 25, {f32({1}, {1}), f32({}, {1})}, {{"output_dtype", int64_t{24}}}),
                 Unsupported);
    EXPECT_THROW(run_op("Add", 14, {of_type(ElementType::f8e5m2, {1}, {1}), of_type(ElementType::f8e5m2, {1}, {1})}),
                 Unsupported);
}

TEST(NarrowMovement, ElementsStayWhole) {
    const Tensor x = of_type(ElementType::i4, {2, 3}, {-8, -1, 0, 1, 3, 7});
    expect_values(run_op("Transpose", 25, {x})[0], {3, 2}, {-8, 1, -1, 3, 0, 7});
    expect_values(run_op("Reshape", 25, {x, i64({3, 2})})[0], {3, 2}, {-8, -1, 0, 1, 3, 7});
    expect_values(run_op("Gather", 13, {x, i64({1})}, {{"axis", int64_t{1}}})[0], {2, 1}, {-1, 3});
    expect_values(run_op("Pad", 25, {of_type(ElementType::f8e4m3fn, {1}, {-2}), i64({1, 0})})[0], {2}, {0, -2});
}

}  // namespace
}  // namespace headway
