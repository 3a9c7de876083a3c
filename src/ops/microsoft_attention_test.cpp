#include "ops/testing.h"

// Expected values were computed with numpy in double and agree with ONNX Runtime where it handles a case.
namespace headway {
namespace {

using namespace testing;

const Tensor absent;

TEST(MicrosoftAttention, MasksBiasAndPast) {
    const Tensor operand_a = f32({2, 2, 2}, {-0.125F, 0.5F, 0.625F, 1.75F, 1.125F, 0.375F, 0.25F, 0.75F});
    const Tensor operand_b =
        f32({2, 12}, {-0.5F,  0,     0.875F, 2,     -0.125F, 0,      0.25F,   1.375F, 0, 1.5F, -1,   -0.125F,
                      -0.25F, 0.75F, 1,      -1.5F, -0.875F, 0.375F, -0.625F, -1.5F,  1, 0.5F, 0.5F, -0.5F});
    const Tensor operand_c =
        f32({12}, {1, -0.25F, 1.125F, -0.875F, -0.875F, 0.25F, -0.75F, 0.625F, 0.25F, -0.875F, 0.125F, -0.375F});
    {
        const auto y =
            run_op("com.microsoft/Attention", 1, {operand_a, operand_b, operand_c}, {{"num_heads", int64_t{2}}}, 1);
        expect_values(y[0], {2, 2, 4},
                      {1.152178, -0.2494511, 0.4227125, -1.053778, 1.419378, 0.1246296, 0.4404434, -0.9518256,
                       0.8078075, 0.4515775, -0.6631243, -0.7141085, 0.8054469, 0.4586592, 0.004411684, -0.763192});
    }
    {
        const auto y = run_op("com.microsoft/Attention", 1,
                              {operand_a, operand_b, operand_c, of_type(ElementType::i32, {2}, {1, 2})},
                              {{"num_heads", int64_t{2}}, {"unidirectional", int64_t{1}}}, 1);
        expect_values(y[0], {2, 2, 4},
                      {0.75, -0.8125, 0.5, -0.609375, 0.75, -0.8125, 0.5, -0.609375, 0.625, 1, -0.8125, -0.703125,
                       0.8054469, 0.4586592, 0.004411684, -0.763192});
    }
    {
        const auto y = run_op("com.microsoft/Attention", 1,
                              {operand_a, operand_b, operand_c, of_type(ElementType::i32, {4}, {2, 1, 1, 0})},
                              {{"num_heads", int64_t{2}}}, 1);
        expect_values(y[0], {2, 2, 4},
                      {2, 0.9375, 0.375, -1.328125, 2, 0.9375, 0.375, -1.328125, 0.625, 1, -0.8125, -0.703125, 0.625, 1,
                       -0.8125, -0.703125});
    }
    {
        const auto y =
            run_op("com.microsoft/Attention", 1,
                   {operand_a, operand_b, operand_c, of_type(ElementType::i32, {2, 3}, {1, 1, 0, 0, 1, 1}),
                    f32({2, 2, 2, 1, 2}, {0.875F, -0.625F, -0.5F, 1.25F, 2.25F, 2, 0.125F, 0.25F, 1.5F, -0.125F, -1,
                                          0.125F, 0.5F, -0.875F, -1.625F, -1.375F})},
                   {{"num_heads", int64_t{2}}, {"unidirectional", int64_t{1}}, {"mask_filter_value", -3.0F}}, 2);
        expect_values(y[0], {2, 2, 4},
                      {1.345088, -0.2670028, 0.206726, -0.4657929, 1.080196, -0.4896372, 0.112497, -0.444824, 0.6112521,
                       0.7937814, -0.8847924, -0.7629053, 0.7521236, 0.2258359, -0.2273485, -0.8502129});
        expect_values(
            y[1], {2, 2, 2, 3, 2},
            {0.875,     -0.625,    -1.296875, 0.4375,    -2.484375, 0.90625,   -0.5,    1.25,    -1.09375, -0.296875,
             -1.6875,   -1.140625, 2.25,      2,         -1.34375,  0.390625,  -1.5625, 0.53125, 0.125,    0.25,
             -0.703125, 1.609375,  -1.15625,  -0.15625,  1.5,       -0.125,    0.75,    -0.8125, 2,        0.9375,
             -1,        0.125,     0.5,       -0.609375, 0.375,     -1.328125, 0.5,     -0.875,  0.625,    1,
             1,         -0.125,    -1.625,    -1.375,    -0.8125,   -0.703125, 0.25,    -0.78125});
    }
    {
        const auto y =
            run_op("com.microsoft/Attention", 1,
                   {operand_a, operand_b, operand_c, of_type(ElementType::i32, {2, 2, 2}, {1, 0, 1, 1, 0, 1, 1, 0}),
                    absent, f32({1, 2, 2, 2}, {0.625F, -0.75F, -0.125F, 0.25F, 0.625F, -0.375F, 0.5F, -0.875F})},
                   {{"num_heads", int64_t{2}}}, 1);
        expect_values(y[0], {2, 2, 4},
                      {0.75, -0.8125, 0.5, -0.609375, 1.533131, 0.2838829, 0.4766181, -0.7438211, 1, -0.125, 0.25,
                       -0.78125, 0.625, 1, -0.8125, -0.703125});
    }
}

TEST(QAttention, MasksBiasAndPast) {
    {
        const auto y = run_op(
            "com.microsoft/QAttention", 1,
            {of_type(ElementType::u8, {2, 2, 2}, {30, 134, 165, 200, 82, 157, 146, 175}),
             of_type(ElementType::i8, {2, 12}, {64, 67,  22,  -110, 77, 119, 12, -16, -78, -11, 21, 70,
                                                -3, -82, -86, 8,    30, 97,  81, 20,  -94, 83,  11, 87}),
             f32({12}, {1, -0.25F, 1.125F, -0.875F, -0.875F, 0.25F, -0.75F, 0.625F, 0.25F, -0.875F, 0.125F, -0.375F}),
             f32({}, {0.0199999996F}),
             f32({12}, {0.046875F, 0.03125F, 0.03125F, 0.03125F, 0.03125F, 0.0625F, 0.03125F, 0.046875F, 0.046875F,
                        0.03125F, 0.046875F, 0.015625F}),
             of_type(ElementType::i32, {2}, {1, 2}), of_type(ElementType::u8, {}, {100})},
            {{"num_heads", int64_t{2}}, {"unidirectional", int64_t{1}}}, 1);
        expect_values(y[0], {2, 2, 4},
                      {2.3725, 1.37, -0.9025, -0.981875, 2.3725, 1.37, -0.9025, -0.981875, -3.456875, 2.205625,
                       0.3584375, 0.7809375, -3.457415, 2.205667, 0.8625486, 1.439791},
                      0.0001);
    }
}

TEST(MultiHeadAttention, MasksBiasAndPast) {
    const Tensor operand_a = f32({2, 2, 4}, {1.875F, 1.75F, 0.625F, 0.625F, -2, 0.625F, -0.25F, 0.375F, 0.625F, -0.375F,
                                             -1.75F, 0.375F, -0.75F, -0.375F, -0.625F, -0.375F});
    const Tensor operand_b =
        f32({2, 3, 4}, {-2.25F, 1.25F, 0.25F, 1.125F,  2,       0,       -1.75F, -0.875F, -1.25F,  -0.5F, 0.125F, -2,
                        0.375F, -1.5F, 0.25F, -0.125F, -0.375F, -0.125F, -0.5F,  -0.625F, -1.625F, 0,     1.875F, 2});
    const Tensor operand_c =
        f32({2, 3, 2}, {1.375F, 0.75F, -0.625F, 1.5F, 0, -0.125F, -0.25F, 0.125F, -0.375F, -0.125F, -1.125F, -0.375F});
    const Tensor operand_d = f32({10}, {2.25F, -0.125F, -0.25F, 0.5F, 0.75F, -1.125F, -0.25F, 0.875F, 0.25F, 0.125F});
    const Tensor operand_e = of_type(ElementType::i32, {2, 3}, {1, 1, 0, 1, 1, 1});
    const Tensor operand_f =
        f32({1, 2, 2, 3}, {1.5F, -0.625F, 0.125F, -0.5F, 1.5F, -2, -0.625F, -0.5F, 0.625F, 0.625F, 1.375F, -1.625F});
    const Tensor operand_g = f32({1, 2, 4}, {0.75F, -0.25F, -0.625F, 0.5F, -0.875F, -2.125F, -0.375F, -1.5F});
    {
        const auto y = run_op("com.microsoft/MultiHeadAttention", 1,
                              {operand_a, operand_b, operand_c, operand_d, operand_e, operand_f},
                              {{"num_heads", int64_t{2}}, {"scale", 0.5F}}, 1);
        expect_values(y[0], {2, 2, 2},
                      {-0.3678128, 1.02636, -0.1788414, 1.3195, -0.01172714, -0.03969828, -0.1002874, 0.0601913});
    }
    {
        const auto y = run_op("com.microsoft/MultiHeadAttention", 1,
                              {operand_a, operand_b, operand_c, operand_d, operand_e, operand_f},
                              {{"num_heads", int64_t{2}}, {"scale", 0.5F}}, 4);
        expect_values(y[0], {2, 2, 2},
                      {-0.3678128, 1.02636, -0.1788414, 1.3195, -0.01172714, -0.03969828, -0.1002874, 0.0601913});
        expect_values(y[1], {2, 2, 3, 2},
                      {-1.5,  0.125,  2.75,  -1.125, -0.5,   -1.625, 0, 2,    -2,    0,    -0.125, -1.125,
                       1.125, -2.625, 0.375, -1.25,  -0.875, -1.125, 0, 0.75, -0.75, 0.25, 1.625,  2.875});
        expect_values(y[2], {2, 2, 3, 1}, {1.625, -0.375, 0.25, 0.875, 1.625, 0, 0, -0.125, -0.875, 0.25, 0, -0.25});
        expect_values(y[3], {2, 2, 2, 3}, {0.003593603, 0.9964064,  0,           0.09807932, 0.9019207, 0,
                                           0.7981868,   0.2018132,  0,           0.4073334,  0.5926666, 0,
                                           0.9628177,   0.02774315, 0.009439133, 0.2487768,  0.7427105, 0.008512676,
                                           0.214181,    0.4128448,  0.3729742,   0.2558946,  0.728976,  0.01512941});
    }
    {
        const auto y = run_op(
            "com.microsoft/MultiHeadAttention", 1,
            {operand_g, f32({1, 2, 4}, {-0.625F, 0.375F, 0.25F, 1.625F, -0.25F, -1.5F, -0.75F, -0.875F}),
             f32({1, 2, 4}, {-1.25F, 0.375F, -0.625F, -2, 0.75F, -0.125F, 0.375F, 0.125F}), absent, absent, absent,
             f32({1, 2, 1, 2}, {0.625F, 0, 1.25F, 0.375F}), f32({1, 2, 1, 2}, {0.375F, 0.375F, -1.5F, -0.125F})},
            {{"num_heads", int64_t{2}}, {"unidirectional", int64_t{1}}}, 3);
        expect_values(y[0], {1, 2, 4},
                      {-0.1537254, 0.375, -0.880827, -1.451799, 0.5972022, -0.06496011, 0.08821664, -0.002268271});
        expect_values(y[1], {1, 2, 3, 2},
                      {0.625, 0, -0.625, 0.375, -0.25, -1.5, 1.25, 0.375, 0.25, 1.625, -0.75, -0.875});
        expect_values(y[2], {1, 2, 3, 2},
                      {0.375, 0.375, -1.25, 0.375, 0.75, -0.125, -1.5, -0.125, -0.625, -2, 0.375, 0.125});
    }
    {
        const auto y = run_op(
            "com.microsoft/MultiHeadAttention", 1,
            {operand_g,
             f32({1, 2, 3, 2},
                 {-0.25F, 0.25F, -1.375F, 1.625F, 0.125F, -1.25F, -1.75F, -0.25F, -0.125F, -0.75F, 0.125F, -0.625F}),
             f32({1, 2, 3, 2}, {0.5F, -0.75F, 0, 1, 2.625F, -1, -0.5F, -0.875F, 0.75F, -1.125F, -0.5F, 0})},
            {{"num_heads", int64_t{2}}}, 1);
        expect_values(y[0], {1, 2, 4},
                      {1.546828, -0.6315129, -0.214809, -0.7452094, 2.307964, -0.9139054, -0.04128448, -0.7035517});
    }
}

TEST(MicrosoftRotaryEmbedding, PositionsByRowOrOffset) {
    const Tensor operand_a =
        f32({2, 2, 8}, {-1,   -1,      -0.5F,   -2.125F, -1.5F,   -0.375F, 0.125F,  -0.125F, -1.75F, -0.5F,  0.75F,
                        0.5F, -0.125F, -0.875F, 0.625F,  -0.625F, -1.125F, -0.75F,  1.5F,    0.25F,  1.125F, -0.5F,
                        1,    -0.625F, -0.125F, 2.5F,    0.75F,   -0.5F,   -0.125F, 0.375F,  1.25F,  -0.5F});
    const Tensor operand_b = f32({5, 2}, {1, 1, 0.87758255F, 0.968912423F, 0.540302277F, 0.87758255F, 0.070737198F,
                                          0.731688857F, -0.416146845F, 0.540302277F});
    const Tensor operand_c = f32({5, 2}, {0, 0, 0.47942555F, 0.247403964F, 0.841470957F, 0.47942555F, 0.997494996F,
                                          0.681638777F, 0.909297407F, 0.841470957F});
    {
        const auto y = run_op("com.microsoft/RotaryEmbedding", 1,
                              {operand_a, i64({2, 2}, {3, 1, 0, 4}), operand_b, operand_c}, {}, 1);
        expect_values(y[0], {2, 2, 8},
                      {0.4280103,  0.7167935,  -1.032864,  -2.236478, -0.2307927, -0.1891785, -1.4874,    -0.3470756,
                       -1.895339,  -0.6081582, -0.1808078, 0.3607542, -0.4093388, -0.6931709, 0.4885609,  -0.8220487,
                       -1.125,     -0.75,      1.5,        0.25,      1.125,      -0.5,       1,          -0.625,
                       -0.6299547, 1.771491,   -0.4257723, 1.833526,  -1.084603,  0.6233488,  -0.6338457, 0.04540047});
    }
    {
        const auto y = run_op("com.microsoft/RotaryEmbedding", 1, {operand_a, i64({1}, {2}), operand_b, operand_c},
                              {{"interleaved", int64_t{1}}}, 1);
        expect_values(y[0], {2, 2, 8},
                      {0.3011687,  -1.381773,  0.579988,  -2.104576, -0.4949018, -1.46482,    0.169626,  -0.04976963,
                       0.3749574,  -1.780985,  0.2079473, 0.8770735, 0.863966,   -0.1865819,  0.8833298, -0.0312813,
                       0.02326316, -1.351882,  1.196517,  0.938534,  1.028576,   0.6765037,   1.177224,  -0.06906354,
                       -2.50258,   0.05215612, 0.889586,  0.1453847, -0.3829028, -0.09816043, 1.25543,   0.486204});
    }
    {
        const auto y = run_op("com.microsoft/RotaryEmbedding", 1,
                              {f32({1, 1, 2, 6}, {-1.75F, -0.25F, 0, 0.125F, 1.375F, 0.375F, 0.875F, -1.125F, 0.875F,
                                                  2.125F, 0.75F, 0.25F}),
                               i64({1, 2}, {3, 1}), operand_b, operand_c},
                              {{"num_heads", int64_t{1}}, {"rotary_embedding_dim", int64_t{4}}}, 1);
        expect_values(y[0], {1, 1, 2, 6},
                      {-0.1237901, -0.2681271, -1.745616, -0.07894859, 1.375, 0.375, 0.3483874, -1.61576, 1.187382,
                       1.780609, 0.75, 0.25});
    }
}

TEST(GroupQueryAttention, PlacesEachImageInItsBuffer) {
    const Tensor operand_a = f32({5, 1}, {1, 0.87758255F, 0.540302277F, 0.070737198F, -0.416146845F});
    const Tensor operand_b = f32({5, 1}, {0, 0.47942555F, 0.841470957F, 0.997494996F, 0.909297407F});
    {
        const auto y = run_op("com.microsoft/GroupQueryAttention", 1,
                              {f32({1, 3, 4}, {0.125F, 1.75F, -0.875F, -0.125F, 0.5F, 0.75F, -0.375F, 0.25F, -0.25F,
                                               0.125F, -0.125F, -1.125F}),
                               f32({1, 3, 2}, {0, 0.875F, -1, -0.25F, 0.625F, -1.125F}),
                               f32({1, 3, 2}, {0.125F, -1, 1.125F, 2.375F, 2, -0.25F}), absent, absent,
                               of_type(ElementType::i32, {1}, {2}), of_type(ElementType::i32, {1}, {3})},
                              {{"num_heads", int64_t{2}}, {"kv_num_heads", int64_t{1}}}, 3);
        expect_values(y[0], {1, 3, 4},
                      {0.125, -1, 0.125, -1, 0.4038497, -0.05888232, 0.6415667, 0.7434128, 1.003662, 0.48694, 1.493376,
                       0.5034712});
        expect_values(y[1], {1, 1, 3, 2}, {0, 0.875, -1, -0.25, 0.625, -1.125});
        expect_values(y[2], {1, 1, 3, 2}, {0.125, -1, 1.125, 2.375, 2, -0.25});
    }
    {
        const auto y = run_op(
            "com.microsoft/GroupQueryAttention", 1,
            {f32({2, 1, 4}, {0.75F, 0.125F, 0.125F, 1.5F, -1.375F, 1, 0, 1.375F}),
             f32({2, 1, 2}, {0.125F, -0.625F, 0.25F, 0.75F}), f32({2, 1, 2}, {0, 0.5F, -0.5F, -2.125F}),
             f32({2, 1, 3, 2},
                 {0.875F, 0.75F, 0.125F, 0.125F, 1, -0.5F, -0.75F, -0.25F, 1.25F, -1.375F, 1.25F, -0.625F}),
             f32({2, 1, 3, 2},
                 {-1.125F, 1.25F, -0.125F, -1.25F, -0.375F, 0.875F, 1.25F, -0.375F, 0.375F, 0.75F, -0.625F, 0.375F}),
             of_type(ElementType::i32, {2}, {3, 1}), of_type(ElementType::i32, {1}, {4}), operand_a, operand_b},
            {{"num_heads", int64_t{2}}, {"kv_num_heads", int64_t{1}}, {"do_rotary", int64_t{1}}}, 3);
        expect_values(y[0], {2, 1, 4},
                      {-0.4759717, 0.378349, -0.3377948, -0.006169375, 0.6171591, -1.007841, 0.1229402, -1.50206});
        expect_values(y[1], {2, 1, 4, 2},
                      {0.875, 0.75, 0.125, 0.125, 1, -0.5, 0.6322765, 0.08047613, -0.75, -0.25, -0.1401735, 0.7780433,
                       0, 0, 0, 0});
        expect_values(y[2], {2, 1, 4, 2},
                      {-1.125, 1.25, -0.125, -1.25, -0.375, 0.875, 0, 0.5, 1.25, -0.375, -0.5, -2.125, 0, 0, 0, 0});
    }
    {
        const auto y = run_op("com.microsoft/GroupQueryAttention", 1,
                              {f32({1, 3, 8}, {0,     -0.5F,   -0.5F,   0.125F, 2.25F,  -0.875F, -2,     -1,
                                               0,     -0.625F, -0.375F, 1.125F, 0.75F,  -0.375F, 0.625F, 0.75F,
                                               0.25F, 0.875F,  1.25F,   0.625F, 1.875F, 1.75F,   0.75F,  -0.125F}),
                               absent, absent, absent, absent, of_type(ElementType::i32, {1}, {2}),
                               of_type(ElementType::i32, {1}, {3}), operand_a, operand_b},
                              {{"num_heads", int64_t{2}},
                               {"kv_num_heads", int64_t{1}},
                               {"do_rotary", int64_t{1}},
                               {"rotary_interleaved", int64_t{1}},
                               {"local_window_size", int64_t{2}},
                               {"softcap", 2.0F}},
                              3);
        expect_values(y[0], {1, 3, 4},
                      {-2, -1, -2, -1, -1.074808, -0.3832055, -0.08933563, 0.2737762, 0.7282215, 0.02744932, 0.7282616,
                       0.02716903});
        expect_values(y[1], {1, 1, 3, 2}, {2.25, -0.875, 0.8379715, 0.03047571, -0.4595074, 2.523287});
        expect_values(y[2], {1, 1, 3, 2}, {-2, -1, 0.625, 0.75, 0.75, -0.125});
    }
    {
        const auto y =
            run_op("com.microsoft/GroupQueryAttention", 1,
                   {f32({1, 2, 4}, {0.5F, 0.625F, -0.125F, 1, -2.25F, 0.625F, -1, 1}),
                    f32({1, 2, 2}, {-0.25F, -0.875F, 0.375F, -0.875F}), f32({1, 2, 2}, {-0.875F, -1.625F, 0, 0.5F}),
                    f32({1, 1, 2, 2}, {1, -0.125F, 1, 0}), f32({1, 1, 2, 2}, {-0.125F, 0.625F, 1, -0.375F}),
                    of_type(ElementType::i32, {1}, {3}), of_type(ElementType::i32, {1}, {4}), absent, absent, absent,
                    f32({1, 2, 2, 4}, {-0.25F, -0.125F, 0.125F, -0.875F, 1, -0.375F, 0.5F, -0.875F, 0.375F, 0.375F,
                                       -0.375F, 2, 0.375F, 1.75F, 1, -0.625F}),
                    f32({2}, {-0.375F, 0.375F})},
                   {{"num_heads", int64_t{2}}, {"kv_num_heads", int64_t{1}}}, 3);
        expect_values(y[0], {1, 2, 4},
                      {0.137647, -0.2596877, 0.1934822, -0.08038482, -0.4360475, -0.7422014, 0.1772962, -0.4889477});
        expect_values(y[1], {1, 1, 4, 2}, {1, -0.125, 1, 0, -0.25, -0.875, 0.375, -0.875});
        expect_values(y[2], {1, 1, 4, 2}, {-0.125, 0.625, 1, -0.375, -0.875, -1.625, 0, 0.5});
    }
    {
        const auto y =
            run_op("com.microsoft/GroupQueryAttention", 1,
                   {f32({1, 2, 4}, {0, 0, -0.25F, -1.75F, -0.25F, -2.25F, 0.375F, -0.75F}),
                    f32({1, 2, 2}, {-0.75F, -0.25F, 0.25F, -1.375F}), f32({1, 2, 2}, {-1.75F, -1.125F, -2, -1}), absent,
                    absent, of_type(ElementType::i32, {1}, {1}), of_type(ElementType::i32, {1}, {2})},
                   {{"num_heads", int64_t{2}}, {"kv_num_heads", int64_t{1}}, {"smooth_softmax", int64_t{1}}}, 3);
        expect_values(y[0], {1, 2, 4},
                      {-0.875, -0.5625, -1.065263, -0.6848118, -1.784034, -0.9298574, -1.461876, -0.7872962});
        expect_values(y[1], {1, 1, 2, 2}, {-0.75, -0.25, 0.25, -1.375});
        expect_values(y[2], {1, 1, 2, 2}, {-1.75, -1.125, -2, -1});
    }
}

TEST(GroupQueryAttention, RefusesLengthsOutsideTheBuffer) {
    const auto run = [](double last, double total, int64_t heads) {
        return run_op("com.microsoft/GroupQueryAttention", 1,
                      {ramp({1, 1, 4}), ramp({1, 1, 2}), ramp({1, 1, 2}), ramp({1, 1, 3, 2}), ramp({1, 1, 3, 2}),
                       of_type(ElementType::i32, {1}, {last}), of_type(ElementType::i32, {1}, {total})},
                      {{"num_heads", heads}, {"kv_num_heads", int64_t{1}}}, 3);
    };
    EXPECT_NO_THROW(run(3, 4, 2));
    EXPECT_THROW(run(4, 4, 2), UserError);
    EXPECT_THROW(run(-2, 4, 2), UserError);
    EXPECT_THROW(run(3, 0, 2), UserError);
    EXPECT_THROW(run(3, 5, 2), UserError);
    EXPECT_THROW(run(3, 4, 0), UserError);
    EXPECT_THROW(run(3, 4, 3), UserError);
}

TEST(MicrosoftAttention, RefusesWhatDoesNotFit) {
    const Tensor x = ramp({1, 2, 3});
    const auto run = [&](const Tensor& weights, const Tensor& mask, int64_t heads) {
        return run_op("com.microsoft/Attention", 1, {x, weights, absent, mask}, {{"num_heads", heads}});
    };
    const Tensor weights = ramp({3, 12});
    EXPECT_NO_THROW(run(weights, absent, 2));
    EXPECT_THROW(run(weights, absent, 3), UserError);
    EXPECT_THROW(run(ramp({3, 11}), absent, 1), UserError);
    EXPECT_THROW(run(weights, i64({1}), 2), UserError);
    EXPECT_THROW(run(weights, of_type(ElementType::i32, {1, 3}, {1, 1, 1}), 2), UserError);
    EXPECT_THROW(run(weights, Tensor(ElementType::i32, {1, 1, 2, 2}), 2), Unsupported);
}

}  // namespace
}  // namespace headway
