#include "ops/testing.h"

// Expected values were computed with ONNX Runtime and the ONNX reference, which agree where both handle a case.
namespace headway {
namespace {

using namespace testing;

TEST(MatMulInteger, ZeroPointsByRowAndColumn) {
    const auto y = run_op("MatMulInteger", 10,
                          {of_type(ElementType::u8, {2, 3}, {1, 200, 3, 4, 5, 255}),
                           of_type(ElementType::i8, {3, 2}, {-1, 2, 127, -128, 5, 6}),
                           of_type(ElementType::u8, {2}, {7, 128}), of_type(ElementType::i8, {2}, {-3, 4})});
    expect_values(y[0], {2, 2}, {25046, -25472, -15222, 16738});
    {
        const auto y =
            run_op("MatMulInteger", 10,
                   {of_type(ElementType::u8, {3}, {1, 200, 3}), of_type(ElementType::u8, {3, 2}, {9, 2, 127, 8, 5, 6}),
                    of_type(ElementType::u8, {}, {7})},
                   {}, 1);
        expect_values(y[0], {2}, {24437, 1508});
    }
}

TEST(QLinearMatMul, HalvesGoToEvenBeforeTheZeroPoint) {
    {
        const auto y =
            run_op("QLinearMatMul", 10,
                   {of_type(ElementType::u8, {1, 2}, {3, 5}), f32({}, {0.5F}), of_type(ElementType::u8, {}, {0}),
                    of_type(ElementType::u8, {2, 3}, {1, 2, 3, 0, 1, 2}), f32({}, {1}),
                    of_type(ElementType::u8, {}, {0}), f32({}, {1}), of_type(ElementType::u8, {}, {1})},
                   {}, 1);
        expect_values(y[0], {1, 3}, {3, 7, 11});
    }
}

TEST(ConvInteger, PaddingIsTheZeroPoint) {
    const auto y = run_op(
        "ConvInteger", 10,
        {of_type(ElementType::u8, {1, 2, 3}, {1, 2, 3, 4, 5, 6}), of_type(ElementType::u8, {2, 1, 2}, {1, 2, 3, 4}),
         of_type(ElementType::u8, {}, {2}), of_type(ElementType::u8, {2}, {1, 5})},
        {{"group", int64_t{2}}, {"pads", ints({1, 0})}});
    expect_values(y[0], {1, 2, 3}, {-1, 0, 1, -2, -7, -10});
}

TEST(QLinearConv, ScalesByChannelAndBias) {
    {
        const auto y =
            run_op("QLinearConv", 10,
                   {of_type(ElementType::u8, {1, 1, 2, 3}, {10, 20, 30, 40, 50, 60}), f32({}, {0.100000001F}),
                    of_type(ElementType::u8, {}, {12}), of_type(ElementType::i8, {2, 1, 1, 2}, {1, -2, 3, 4}),
                    f32({2}, {0.5F, 0.25F}), of_type(ElementType::i8, {2}, {0, 0}), f32({}, {0.300000012F}),
                    of_type(ElementType::i8, {}, {-7}), of_type(ElementType::i32, {2}, {30, -40})},
                   {{"pads", ints({0, 1, 0, 0})}}, 1);
        expect_values(y[0], {1, 2, 2, 3}, {-1, -5, -7, -11, -10, -12, -11, -8, -2, -1, 9, 15});
    }
}

TEST(QLinearMatMul, RefusesScalesOfOtherShapes) {
    const Tensor a = of_type(ElementType::u8, {2, 3}, {1, 2, 3, 4, 5, 6});
    const Tensor b = of_type(ElementType::u8, {3, 1}, {1, 2, 3});
    const Tensor zero = of_type(ElementType::u8, {}, {0});
    const Tensor one = f32({}, {1});
    EXPECT_THROW(run_op("QLinearMatMul", 21, {a, f32({3}, {1, 2, 3}), zero, b, one, zero, one, zero}), Unsupported);
    EXPECT_THROW(run_op("QLinearMatMul", 21, {a, one, zero, b, one, zero, f32({2}, {1, 2}), zero}), Unsupported);
    EXPECT_THROW(run_op("QLinearMatMul", 21, {a, one, one, b, one, zero, one, zero}), UserError);
}

}  // namespace
}  // namespace headway
