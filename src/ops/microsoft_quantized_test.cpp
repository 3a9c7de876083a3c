#include "ops/testing.h"

// Expected values were computed with numpy in double and agree with ONNX Runtime where it handles a case.
namespace headway {
namespace {

using namespace testing;

const Tensor absent;

TEST(QLinearAdd, Values) {
    {
        const auto y =
            run_op("com.microsoft/QLinearAdd", 1,
                   {of_type(ElementType::u8, {2, 3}, {177, 205, 189, 224, 227, 133}), f32({}, {0.100000001F}),
                    of_type(ElementType::u8, {}, {100}), of_type(ElementType::u8, {3}, {208, 234, 76}),
                    f32({}, {0.0500000007F}), of_type(ElementType::u8, {}, {50}), f32({}, {0.200000003F}),
                    of_type(ElementType::u8, {}, {20})},
                   {}, 1);
        expect_values(y[0], {2, 3}, {98, 118, 71, 122, 130, 43});
    }
}

TEST(QLinearMul, Values) {
    {
        const auto y = run_op("com.microsoft/QLinearMul", 1,
                              {of_type(ElementType::i8, {2, 1}, {-117, -85}), f32({}, {0.100000001F}), absent,
                               of_type(ElementType::i8, {1, 3}, {-121, -17, -123}), f32({}, {0.0500000007F}),
                               of_type(ElementType::i8, {}, {5}), f32({}, {0.200000003F}), absent},
                              {}, 1);
        expect_values(y[0], {2, 3}, {127, 64, 127, 127, 47, 127});
    }
}

TEST(QLinearSigmoid, Values) {
    {
        const auto y =
            run_op("com.microsoft/QLinearSigmoid", 1,
                   {of_type(ElementType::u8, {2, 3}, {177, 205, 189, 224, 227, 133}), f32({}, {0.0500000007F}),
                    of_type(ElementType::u8, {}, {128}), f32({}, {0.00390625F}), of_type(ElementType::u8, {}, {0})},
                   {}, 1);
        expect_values(y[0], {2, 3}, {236, 251, 244, 254, 254, 144});
    }
}

TEST(QLinearLeakyRelu, Values) {
    {
        const auto y =
            run_op("com.microsoft/QLinearLeakyRelu", 1,
                   {of_type(ElementType::i8, {2, 1}, {-117, -85}), f32({}, {0.100000001F}),
                    of_type(ElementType::i8, {}, {3}), f32({}, {0.0500000007F}), of_type(ElementType::i8, {}, {-9})},
                   {{"alpha", 0.25F}}, 1);
        expect_values(y[0], {2, 1}, {-69, -53});
    }
}

TEST(QLinearWhere, Values) {
    {
        const auto y =
            run_op("com.microsoft/QLinearWhere", 1,
                   {of_type(ElementType::boolean, {2, 1}, {1, 0}), of_type(ElementType::u8, {3}, {208, 234, 76}),
                    f32({}, {0.100000001F}), of_type(ElementType::u8, {}, {9}),
                    of_type(ElementType::u8, {2, 3}, {177, 205, 189, 224, 227, 133}), f32({}, {0.0500000007F}),
                    of_type(ElementType::u8, {}, {1}), f32({}, {0.200000003F}), of_type(ElementType::u8, {}, {7})},
                   {}, 1);
        expect_values(y[0], {2, 3}, {107, 119, 41, 63, 63, 40});
    }
}

TEST(QLinearSoftmax, Values) {
    {
        const auto y =
            run_op("com.microsoft/QLinearSoftmax", 1,
                   {of_type(ElementType::u8, {2, 3}, {177, 205, 189, 224, 227, 133}), f32({}, {0.0199999996F}),
                    of_type(ElementType::u8, {}, {0}), f32({}, {0.00390625F}), of_type(ElementType::u8, {}, {0})},
                   {{"axis", int64_t{-1}}, {"opset", int64_t{13}}}, 1);
        expect_values(y[0], {2, 3}, {64, 111, 81, 115, 122, 19});
    }
    {
        const auto y = run_op("com.microsoft/QLinearSoftmax", 1,
                              {of_type(ElementType::u8, {1, 2, 2}, {66, 64, 180, 63}), f32({}, {0.0199999996F}), absent,
                               f32({}, {0.00390625F}), of_type(ElementType::u8, {}, {0})},
                              {{"axis", int64_t{1}}, {"opset", int64_t{11}}}, 1);
        expect_values(y[0], {1, 2, 2}, {20, 19, 197, 19});
    }
}

TEST(QLinearConcat, Values) {
    {
        const auto y =
            run_op("com.microsoft/QLinearConcat", 1,
                   {f32({}, {0.200000003F}), of_type(ElementType::u8, {}, {10}),
                    of_type(ElementType::u8, {2, 3}, {177, 205, 189, 224, 227, 133}), f32({}, {0.100000001F}),
                    of_type(ElementType::u8, {}, {100}), of_type(ElementType::u8, {1, 3}, {243, 48, 248}),
                    f32({}, {0.0500000007F}), of_type(ElementType::u8, {}, {3})},
                   {{"axis", int64_t{0}}}, 1);
        expect_values(y[0], {3, 3}, {48, 62, 54, 72, 74, 26, 70, 21, 71});
    }
}

TEST(QLinearAveragePool, Values) {
    const Tensor operand_a = of_type(ElementType::u8, {1, 2, 3, 3},
                                     {145, 62, 9, 78, 151, 27, 42, 29, 173, 22, 5, 116, 79, 145, 240, 219, 137, 164});
    {
        const auto y = run_op("com.microsoft/QLinearAveragePool", 1,
                              {operand_a, f32({}, {0.100000001F}), of_type(ElementType::u8, {}, {7}),
                               f32({}, {0.0500000007F}), of_type(ElementType::u8, {}, {11})},
                              {{"kernel_shape", ints({2, 2})},
                               {"strides", ints({2, 2})},
                               {"pads", ints({1, 1, 0, 0})},
                               {"count_include_pad", int64_t{0}}},
                              1);
        expect_values(y[0], {1, 2, 2, 2}, {255, 68, 117, 187, 41, 118, 255, 255});
    }
    {
        const auto y = run_op("com.microsoft/QLinearAveragePool", 1,
                              {operand_a, f32({}, {0.100000001F}), of_type(ElementType::u8, {}, {7}),
                               f32({}, {0.0500000007F}), of_type(ElementType::u8, {}, {11})},
                              {{"kernel_shape", ints({2, 2})},
                               {"strides", ints({2, 2})},
                               {"pads", ints({1, 1, 0, 0})},
                               {"count_include_pad", int64_t{1}}},
                              1);
        expect_values(y[0], {1, 2, 2, 2}, {80, 39, 64, 187, 19, 65, 153, 255});
    }
    {
        const auto y = run_op("com.microsoft/QLinearAveragePool", 1,
                              {of_type(ElementType::u8, {1, 3, 3, 2},
                                       {145, 22, 62, 5, 9, 116, 78, 79, 151, 145, 27, 240, 42, 219, 29, 137, 173, 164}),
                               f32({}, {0.100000001F}), of_type(ElementType::u8, {}, {7}), f32({}, {0.0500000007F}),
                               of_type(ElementType::u8, {}, {11})},
                              {{"kernel_shape", ints({2, 2})},
                               {"strides", ints({2, 2})},
                               {"pads", ints({1, 1, 0, 0})},
                               {"channels_last", int64_t{1}}},
                              1);
        expect_values(y[0], {1, 2, 2, 2}, {255, 41, 68, 118, 117, 255, 187, 255});
    }
}

TEST(QLinearGlobalAveragePool, Values) {
    {
        const auto y = run_op("com.microsoft/QLinearGlobalAveragePool", 1,
                              {of_type(ElementType::u8, {1, 2, 3, 3},
                                       {145, 62, 9, 78, 151, 27, 42, 29, 173, 22, 5, 116, 79, 145, 240, 219, 137, 164}),
                               f32({}, {0.100000001F}), of_type(ElementType::u8, {}, {7}), f32({}, {0.100000001F}),
                               of_type(ElementType::u8, {}, {30})},
                              {}, 1);
        expect_values(y[0], {1, 2, 1, 1}, {103, 148});
    }
    {
        const auto y = run_op("com.microsoft/QLinearGlobalAveragePool", 1,
                              {of_type(ElementType::u8, {1, 3, 3, 2},
                                       {145, 22, 62, 5, 9, 116, 78, 79, 151, 145, 27, 240, 42, 219, 29, 137, 173, 164}),
                               f32({}, {0.100000001F}), of_type(ElementType::u8, {}, {7}), f32({}, {0.100000001F}),
                               of_type(ElementType::u8, {}, {30})},
                              {{"channels_last", int64_t{1}}}, 1);
        expect_values(y[0], {1, 1, 1, 2}, {103, 148});
    }
}

TEST(NhwcMaxPool, Values) {
    {
        const auto y =
            run_op("com.microsoft/NhwcMaxPool", 1,
                   {of_type(ElementType::u8, {1, 3, 3, 2},
                            {145, 22, 62, 5, 9, 116, 78, 79, 151, 145, 27, 240, 42, 219, 29, 137, 173, 164})},
                   {{"kernel_shape", ints({2, 2})}}, 1);
        expect_values(y[0], {1, 2, 2, 2}, {151, 145, 151, 240, 151, 219, 173, 240});
    }
}

TEST(MatMulIntegerToFloat, Values) {
    const Tensor operand_a = of_type(ElementType::u8, {2, 3}, {207, 111, 168, 55, 156, 60});
    const Tensor operand_b = of_type(ElementType::i8, {3, 2}, {-80, 66, 19, -32, -118, -68});
    {
        const auto y = run_op(
            "com.microsoft/MatMulIntegerToFloat", 1,
            {operand_a, operand_b, f32({}, {0.100000001F}), f32({2}, {0.0199999996F, 0.0299999993F}),
             of_type(ElementType::u8, {}, {100}), of_type(ElementType::i8, {2}, {3, -4}), f32({2}, {1.875F, 1.5F})},
            {}, 1);
        expect_values(y[0], {2, 2}, {-31.991, 9.99, 20.817, -4.974});
    }
    {
        const auto y = run_op("com.microsoft/MatMulIntegerToFloat", 1,
                              {operand_a, operand_b, f32({}, {0.100000001F}), f32({}, {0.0199999996F})}, {}, 1);
        expect_values(y[0], {2, 2}, {-68.55, -2.628, -17.032, -10.884});
    }
}

TEST(DynamicQuantizeMatMul, Values) {
    const Tensor operand_a = f32({2, 3}, {-1.125F, -1.75F, 0.875F, -1, 0, 0.875F});
    const Tensor operand_b = of_type(ElementType::i8, {3, 2}, {-80, 66, 19, -32, -118, -68});
    {
        const auto y = run_op("com.microsoft/DynamicQuantizeMatMul", 1,
                              {operand_a, operand_b, f32({2}, {0.0199999996F, 0.0299999993F}),
                               of_type(ElementType::i8, {2}, {3, -4}), f32({2}, {1.875F, 1.5F})},
                              {}, 1);
        expect_values(y[0], {2, 2}, {1.060118, -1.066324, 1.415059, -2.276912});
    }
    {
        const auto y =
            run_op("com.microsoft/DynamicQuantizeMatMul", 1, {operand_a, operand_b, f32({}, {0.0199999996F})}, {}, 1);
        expect_values(y[0], {2, 2}, {-0.9347059, -1.551118, -0.4673529, -2.508059});
    }
}

TEST(QGemm, Values) {
    {
        const auto y = run_op(
            "com.microsoft/QGemm", 1,
            {of_type(ElementType::u8, {2, 3}, {207, 111, 168, 55, 156, 60}), f32({}, {0.100000001F}),
             of_type(ElementType::u8, {}, {100}), of_type(ElementType::i8, {2, 3}, {-80, 19, -118, 66, -32, -68}),
             f32({2}, {0.0199999996F, 0.0299999993F}), of_type(ElementType::i8, {2}, {3, -4}),
             of_type(ElementType::i32, {2}, {100, -2000})},
            {{"transB", int64_t{1}}, {"alpha", 0.5F}}, 1);
        expect_values(y[0], {2, 2}, {-16.833, 1.245, 9.571, -6.237});
    }
    {
        const auto y = run_op(
            "com.microsoft/QGemm", 1,
            {of_type(ElementType::u8, {3, 2}, {207, 55, 111, 156, 168, 60}), f32({}, {0.100000001F}),
             of_type(ElementType::u8, {}, {100}), of_type(ElementType::i8, {3, 2}, {-80, 66, 19, -32, -118, -68}),
             f32({}, {0.0199999996F}), of_type(ElementType::i8, {}, {3}), absent, f32({}, {0.200000003F}),
             of_type(ElementType::u8, {}, {128})},
            {{"transA", int64_t{1}}}, 1);
        expect_values(y[0], {2, 2}, {0, 143, 223, 108});
    }
}

TEST(MatMulNBits, UnpacksBlocks) {
    {
        const auto y =
            run_op("com.microsoft/MatMulNBits", 1,
                   {f32({2, 18},
                        {0, -2.25F,  -0.75F, -2,    -3.25F, -0.5F, 1.375F, 0,       -1.125F, -1,     1.125F, 0.125F,
                         0, 0,       0,      0.75F, 0.5F,   0.25F, -1,     0.5F,    -0.625F, 1.125F, -1.25F, -0.125F,
                         0, -1.375F, 1.75F,  1.5F,  -0.5F,  0.75F, 0.375F, -2.625F, 0.25F,   0,      0.125F, -1.125F}),
                    of_type(ElementType::u8, {2, 2, 8},
                            {76, 165, 109, 76, 210, 204, 126, 147, 105, 74,  201, 113, 10,  234, 173, 92,
                             21, 91,  125, 46, 82,  112, 170, 35,  169, 239, 38,  228, 247, 154, 145, 214}),
                    f32({2, 2}, {0.125F, 0.125F, 0.375F, 0.375F})},
                   {{"K", int64_t{18}}, {"N", int64_t{2}}, {"bits", int64_t{4}}, {"block_size", int64_t{16}}}, 1);
        expect_values(y[0], {2, 2}, {0.625, 3.421875, 0.203125, -8.71875});
    }
    {
        const auto y =
            run_op("com.microsoft/MatMulNBits", 1,
                   {f32({2, 18}, {-0.875F, 0.875F,  -0.75F, 0.625F, 1.5F,   -0.375F, -0.625F, 0.25F,  0,
                                  -1,      0.5F,    2,      -0.25F, -0.25F, -1,      0.375F,  -1.25F, -1.125F,
                                  1.25F,   -0.875F, 1.125F, 1.5F,   0.25F,  0.5F,    2,       -0.25F, -0.625F,
                                  -1.375F, 0,       1.5F,   1,      -1,     -0.875F, -0.5F,   0.25F,  -0.25F}),
                    of_type(ElementType::u8, {2, 2, 8},
                            {77,  180, 56, 171, 142, 226, 2,   124, 42,  107, 175, 207, 29,  156, 70, 58,
                             210, 156, 92, 59,  39,  86,  118, 80,  109, 24,  246, 8,   203, 6,   77, 94}),
                    f32({2, 2}, {0.25F, 0.4375F, 0.125F, 0.0625F}), of_type(ElementType::u8, {2, 1}, {236, 47}), absent,
                    f32({2}, {0.25F, 0.25F})},
                   {{"K", int64_t{18}}, {"N", int64_t{2}}, {"bits", int64_t{4}}, {"block_size", int64_t{16}}}, 1);
        expect_values(y[0], {2, 2}, {8.75, 0.46875, 1.75, -1.21875});
    }
    {
        const auto y = run_op(
            "com.microsoft/MatMulNBits", 1,
            {f32({2, 16}, {0.625F, 2.25F,  0.25F,  -0.75F, -1.125F, 0,       -0.125F, -1.125F, 0.125F, -1.125F, 1.125F,
                           1.125F, 1.125F, -0.5F,  0.5F,   -0.125F, -0.375F, -0.375F, -1.25F,  -1.5F,  0.75F,   -0.25F,
                           0.25F,  1,      -1.75F, -0.75F, 0.125F,  0.375F,  -0.375F, 1,       0.25F,  -1.25F}),
             of_type(ElementType::u8, {2, 1, 16},
                     {37, 210, 132, 180, 160, 123, 137, 254, 101, 241, 202, 46,  223, 98,  45,  64,
                      34, 86,  28,  139, 250, 246, 241, 62,  59,  173, 248, 211, 53,  188, 129, 113}),
             f32({2, 1}, {0.25F, 0.3125F}), of_type(ElementType::u8, {2, 1}, {234, 202})},
            {{"K", int64_t{16}}, {"N", int64_t{2}}, {"bits", int64_t{8}}, {"block_size", int64_t{16}}}, 1);
        expect_values(y[0], {2, 2}, {-94.71875, -116.5625, 111.4375, 227.8906});
    }
    {
        const auto y = run_op(
            "com.microsoft/MatMulNBits", 1,
            {f32({2, 16}, {-1.25F, 1.125F, 0.375F, -1,     -0.5F,   -0.5F,   0,  -0.5F,   -0.875F, -0.25F, -1,
                           -1.25F, 0,      0.875F, -1.5F,  0,       -0.625F, -1, 0.875F,  -0.5F,   1.5F,   -0.75F,
                           0.375F, -0.25F, -0.75F, 0.625F, -0.125F, 0.625F,  0,  -1.125F, -0.125F, 0}),
             of_type(ElementType::u8, {2, 1, 8},
                     {48, 54, 6, 59, 189, 117, 106, 3, 136, 44, 177, 203, 160, 207, 119, 6}),
             f32({2, 1}, {0.375F, 0.3125F}), f32({2, 1}, {2, 4})},
            {{"K", int64_t{16}}, {"N", int64_t{2}}, {"bits", int64_t{4}}, {"block_size", int64_t{16}}}, 1);
        expect_values(y[0], {2, 2}, {-6.1875, -6.523438, 3.515625, -0.2734375});
    }
    {
        const auto y = run_op(
            "com.microsoft/MatMulNBits", 1,
            {f32({2, 16}, {0.625F, -0.75F,  0.375F, -1,      -1.25F, -1.875F, 1.875F, -0.375F, 0.25F, 0,       0.125F,
                           0,      1.875F,  -1,     -1.5F,   -1,     -1.375F, 0.75F,  0.875F,  -1,    -1.375F, -0.375F,
                           1.375F, -2.875F, 0.5F,   -1.125F, 1,      -1.125F, -0.25F, -1.5F,   -1,    1.375F}),
             of_type(ElementType::u8, {2, 1, 4}, {18, 95, 243, 237, 216, 103, 238, 102}),
             f32({2, 1}, {0.25F, 0.0625F})},
            {{"K", int64_t{16}}, {"N", int64_t{2}}, {"bits", int64_t{2}}, {"block_size", int64_t{16}}}, 1);
        expect_values(y[0], {2, 2}, {-1.25, 0.0234375, 0.53125, 0.0390625});
    }
}

TEST(MicrosoftQuantizeLinear, Values) {
    {
        const auto y = run_op("com.microsoft/QuantizeLinear", 1,
                              {f32({2, 3}, {-0.625F, 0.5F, 0.375F, 0.125F, -0.875F, 0}), f32({3}, {0.5F, 0.25F, 1}),
                               of_type(ElementType::i8, {3}, {1, 2, 3})},
                              {{"axis", int64_t{1}}}, 1);
        expect_values(y[0], {2, 3}, {0, 4, 3, 1, -2, 3});
    }
    {
        const auto y = run_op("com.microsoft/DequantizeLinear", 1,
                              {of_type(ElementType::i8, {3, 2}, {-80, 66, 19, -32, -118, -68}),
                               f32({2}, {0.0199999996F, 0.0299999993F}), of_type(ElementType::i8, {2}, {3, -4})},
                              {{"axis", int64_t{1}}}, 1);
        expect_values(y[0], {3, 2}, {-1.66, 2.1, 0.32, -0.84, -2.42, -1.92});
    }
}

TEST(DynamicQuantizeLSTM, QuantisesEachStep) {
    const Tensor operand_a =
        f32({3, 2, 2}, {0.875F, -0.375F, -0.875F, -1.875F, -0.375F, 0, -0.125F, -0.125F, -1.125F, -0.125F, 0, 1.25F});
    const Tensor operand_b = of_type(ElementType::i8, {1, 8}, {0, 0, 0, 0, 0, 0, 0, 0});
    {
        const auto y = run_op(
            "com.microsoft/DynamicQuantizeLSTM", 1,
            {operand_a, of_type(ElementType::u8, {2, 2, 8}, {46,  19,  246, 88,  74,  219, 78,  59, 65,  101, 17,
                                                             164, 108, 248, 197, 98,  181, 206, 50, 40,  35,  11,
                                                             82,  203, 196, 96,  124, 196, 236, 72, 168, 152}),
             of_type(ElementType::u8, {2, 2, 8},
                     {158, 205, 196, 101, 192, 14,  88, 55, 65, 230, 112, 18,  125, 17, 36, 98,
                      112, 59,  163, 127, 34,  210, 35, 92, 44, 241, 72,  221, 246, 56, 6,  3}),
             f32({2, 16}, {0.125F, -1.25F,  0.25F,   0.125F, -0.125F, -0.5F, 0.5F,   -1.625F, 0.5F,   0.25F,  0.25F,
                           0.375F, -0.625F, -0.25F,  0.625F, 0.375F,  0.25F, -1.5F,  0.5F,    1.125F, 1,      0.25F,
                           -1.5F,  1,       -0.125F, -2.5F,  0.375F,  -1.5F, -1.25F, -0.625F, 1.25F,  -0.375F}),
             absent, f32({2, 2, 2}, {0.0625F, 0.4375F, 0.40625F, -0.03125F, -0.0625F, -0.3125F, -0.1875F, 0.09375F}),
             f32({2, 2, 2}, {0.375F, 0.125F, 1, -0.75F, 0, 0.75F, 0.625F, 1.125F}), absent,
             f32({2}, {0.00999999978F, 0.0199999996F}), of_type(ElementType::u8, {2}, {120, 130}),
             f32({2}, {0.0149999997F, 0.00999999978F}), of_type(ElementType::u8, {2}, {128, 100})},
            {{"hidden_size", int64_t{2}}, {"direction", std::string("bidirectional")}}, 3);
        expect_values(y[0], {3, 2, 2, 2}, {0.01604199,   -0.07146261, 0.3420867, -0.1828056, -0.1811682, 0.01652654,
                                           -0.01539916,  0.01665348,  0.2925547, -0.2024133, 0.4617943,  -0.2373486,
                                           -0.001571622, 0.2897942,   0.1294479, 0.04339218, 0.3168373,  -0.2692301,
                                           0.3079329,    -0.3452618,  0.1941108, 0.4496732,  0.5161774,  0.1050134},
                      0.0001);
        expect_values(y[1], {2, 2, 2},
                      {0.3168373, -0.2692301, 0.3079329, -0.3452618, -0.1811682, 0.01652654, -0.01539916, 0.01665348},
                      0.0001);
        expect_values(y[2], {2, 2, 2},
                      {1.132782, -0.3838429, 0.8821034, -0.4765647, -0.5443788, 0.1515302, -0.01658951, 0.07187118},
                      0.0001);
    }
    {
        const auto y =
            run_op("com.microsoft/DynamicQuantizeLSTM", 1,
                   {operand_a,
                    of_type(ElementType::i8, {1, 2, 8},
                            {46, -32, 90, -81, -25, -37, -128, -105, 73, 113, -66, -109, -92, -114, 76, -116}),
                    of_type(ElementType::i8, {1, 2, 8},
                            {47, 75, -74, -70, -60, 66, 112, 65, -60, 55, 51, -20, -95, -48, 80, 4}),
                    absent, of_type(ElementType::i32, {2}, {3, 2}), absent, absent, absent,
                    f32({1, 8},
                        {0.0078125F, 0.015625F, 0.0234375F, 0.0078125F, 0.0078125F, 0.015625F, 0.0234375F, 0.0234375F}),
                    operand_b,
                    f32({1, 8},
                        {0.0234375F, 0.0234375F, 0.015625F, 0.0078125F, 0.0078125F, 0.0234375F, 0.015625F, 0.0078125F}),
                    operand_b},
                   {{"hidden_size", int64_t{2}}}, 3);
        expect_values(y[0], {3, 1, 2, 2},
                      {-0.4405889, -0.08744056, -0.09246317, 0.04775023, -0.08506629, 0.07458255, -0.02357275,
                       0.1409319, 0.02466182, 0.4007294, 0, 0},
                      0.0001);
        expect_values(y[1], {1, 2, 2}, {0.02466182, 0.4007294, -0.02357275, 0.1409319}, 0.0001);
        expect_values(y[2], {1, 2, 2}, {0.2158875, 0.649803, -0.04546251, 0.2591521}, 0.0001);
    }
}

TEST(QLinearAdd, RefusesScalesThatDoNotFit) {
    const Tensor x = of_type(ElementType::u8, {2}, {1, 2});
    const Tensor one = f32({}, {1});
    const Tensor zero = of_type(ElementType::u8, {}, {0});
    const auto run = [&](const Tensor& scale, const Tensor& zero_point) {
        return run_op("com.microsoft/QLinearAdd", 1, {x, scale, zero_point, x, one, zero, one, zero});
    };
    EXPECT_NO_THROW(run(one, zero));
    EXPECT_THROW(run(f32({2}, {1, 2}), zero), UserError);
    EXPECT_THROW(run(one, of_type(ElementType::i8, {}, {0})), UserError);
    EXPECT_THROW(run(absent, zero), UserError);
}

TEST(MatMulNBits, RefusesWhatDoesNotFit) {
    const auto run = [](const Tensor& b, const Tensor& scale, int64_t block) {
        return run_op("com.microsoft/MatMulNBits", 1, {ramp({1, 16}), b, scale},
                      {{"K", int64_t{16}}, {"N", int64_t{1}}, {"block_size", block}});
    };
    const Tensor packed(ElementType::u8, {1, 1, 8});
    EXPECT_NO_THROW(run(packed, ramp({1, 1}), 16));
    EXPECT_THROW(run(packed, ramp({1, 1}), 24), UserError);
    EXPECT_THROW(run(packed, ramp({1, 1}), int64_t{1} << 62), UserError);
    EXPECT_THROW(run(Tensor(ElementType::u8, {1, 1, 7}), ramp({1, 1}), 16), UserError);
    EXPECT_THROW(run(packed, ramp({1, 2}), 16), UserError);
}

TEST(DynamicQuantizeLSTM, RefusesScalesThatDoNotFit) {
    const Tensor w(ElementType::u8, {1, 2, 4});
    const Tensor r(ElementType::u8, {1, 1, 4});
    const Tensor zero(ElementType::u8, {1});
    const auto run = [&](const Tensor& scale, const Tensor& zero_point) {
        return run_op(
            "com.microsoft/DynamicQuantizeLSTM", 1,
            {ramp({1, 1, 2}), w, r, absent, absent, absent, absent, absent, scale, zero_point, f32({1}, {1}), zero});
    };
    EXPECT_NO_THROW(run(f32({1}, {1}), zero));
    EXPECT_THROW(run(f32({2}, {1, 1}), Tensor(ElementType::u8, {2})), UserError);
    EXPECT_THROW(run(f32({1}, {1}), Tensor(ElementType::i8, {1})), UserError);
    EXPECT_THROW(run(absent, zero), UserError);
}

}  // namespace
}  // namespace headway
