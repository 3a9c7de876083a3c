#include "ops/testing.h"

// Expected values were computed with ONNX Runtime and the ONNX reference, which agree where both handle a case.
namespace headway {
namespace {

using namespace testing;

TEST(Dft, LengthsAndAxes) {
    {
        const auto y = run_op("DFT", 20, {ramp({2, 3, 2}, -1.0F, 0.3F), i64({}, {4}), i64({}, {0})}, {}, 1);
        expect_values(y[0], {4, 3, 2}, {-0.199999928, 0.400000155, 1.00000012,  1.60000014,  2.20000005,  2.80000019,
                                        0.100000143,  -1.5,        1.30000007,  -1.5,        2.50000024,  -1.5,
                                        -1.80000007,  -1.80000019, -1.80000007, -1.79999995, -1.79999995, -1.80000019,
                                        -2.10000014,  0.100000083, -2.0999999,  1.30000019,  -2.10000014, 2.5});
    }
    {
        const auto y = run_op("DFT", 20, {ramp({1, 5, 1}, -1.0F, 0.3F), i64({}, {3})}, {{"onesided", int64_t{1}}}, 1);
        expect_values(y[0], {1, 2, 2}, {-2.0999999, 0, -0.450000018, 0.259807646});
    }
    {
        const auto y =
            run_op("DFT", 17, {ramp({1, 2, 3, 2}, -1.0F, 0.3F)}, {{"inverse", int64_t{1}}, {"axis", int64_t{2}}}, 1);
        expect_values(y[0], {1, 2, 3, 2},
                      {-0.399999976, -0.0999999866, -0.126794964, -0.47320509, -0.47320509, -0.126794919, 1.4000001,
                       1.70000017, -0.126794875, -0.47320503, -0.47320509, -0.126794904});
    }
    {
        const auto y = run_op("DFT", 20, {ramp({1, 3, 2}, -1.0F, 0.3F), i64({}, {5})},
                              {{"inverse", int64_t{1}}, {"onesided", int64_t{1}}}, 1);
        expect_values(y[0], {1, 5, 1}, {-0.279999971, -0.393678904, 0.167886779, -0.259558648, -0.234649286});
    }
    {
        const auto y =
            run_op("DFT", 20, {ramp({1, 3, 2}, -1.0F, 0.3F)}, {{"inverse", int64_t{1}}, {"onesided", int64_t{1}}}, 1);
        expect_values(y[0], {1, 4, 1}, {-0.399999976, -0.25000003, 0, -0.349999994});
    }
}

TEST(Dft, RefusesWhatHasNoMeaning) {
    EXPECT_THROW(run_op("DFT", 17, {ramp({1, 3, 3})}), UserError);
    EXPECT_THROW(run_op("DFT", 17, {ramp({1, 3, 2})}, {{"onesided", int64_t{1}}}), UserError);
    EXPECT_THROW(run_op("DFT", 17, {ramp({1, 3, 1})}, {{"axis", int64_t{2}}}), UserError);
    EXPECT_THROW(run_op("DFT", 20, {ramp({1, 1, 2})}, {{"onesided", int64_t{1}}, {"inverse", int64_t{1}}}), UserError);
}

TEST(Stft, ComplexSignalsAndWindows) {
    {
        const auto y =
            run_op("STFT", 17, {ramp({1, 6, 2}, -1.0F, 0.3F), i64({}, {2}), f32({4}, {0.100000001F, 0.5F, 1, 0.25F})},
                   {{"onesided", int64_t{0}}}, 1);
        expect_values(
            y[0], {1, 2, 4, 2},
            {0.100000076, 0.655000031, -0.62500006, -0.169999987, 0.100000016, 0.204999954, 0.0249999687, -0.970000029,
             2.32000017, 2.87500024, -1.40500009, -1.55000007, 0.520000041, 0.62499994, -1.35500014, -1.75});
    }
    {
        const auto y = run_op("STFT", 17, {ramp({2, 5, 1}, -1.0F, 0.3F), i64({}, {1}), Tensor{}, i64({}, {4})}, {}, 1);
        expect_values(y[0], {2, 2, 3, 2}, {-2.19999981,  0, -0.600000024, 0.600000024, -0.600000024, 0,
                                           -0.999999881, 0, -0.600000024, 0.600000024, -0.600000024, 0,
                                           3.80000019,   0, -0.600000143, 0.600000024, -0.600000024, 0,
                                           5.00000048,   0, -0.600000024, 0.599999905, -0.600000024, 0});
    }
}

TEST(Stft, SignalsWithoutAxisOfParts) {
    const auto want = run_op("STFT", 17, {ramp({1, 5, 1}), i64({}, {2}), Tensor{}, i64({}, {3})});
    const auto got = run_op("STFT", 17, {ramp({1, 5}), i64({}, {2}), Tensor{}, i64({}, {3})});
    std::vector<double> values;
    for (int64_t i = 0; i < want[0].elements(); ++i) values.push_back(want[0].at(i));
    expect_values(got[0], {1, 2, 2, 2}, values);
    EXPECT_THROW(run_op("STFT", 17, {ramp({1, 5, 1}), i64({}, {2})}), UserError);
    EXPECT_THROW(run_op("STFT", 17, {ramp({1, 5, 1}), i64({}, {2}), Tensor{}, i64({}, {6})}), UserError);
    EXPECT_THROW(run_op("STFT", 17, {ramp({1, 5, 1}), i64({}, {0}), Tensor{}, i64({}, {3})}), UserError);
}

TEST(CosineWindow, ShortOnes) {
    {
        const auto y = run_op("HannWindow", 17, {i64({}, {4})}, {{"periodic", int64_t{0}}}, 1);
        expect_values(y[0], {4}, {0, 0.75, 0.74999994, 6.3201231e-17});
    }
    {
        const auto y = run_op("HammingWindow", 17, {i64({}, {3})}, {{"output_datatype", int64_t{11}}}, 1);
        expect_values(y[0], {3}, {0.0869565217, 0.77173913, 0.77173913});
    }
    {
        const auto y = run_op("BlackmanWindow", 17, {i64({}, {1})}, {}, 1);
        expect_values(y[0], {1}, {0});
    }
}

TEST(CosineWindow, RefusesOnePointBothEndsOfAWindow) {
    EXPECT_THROW(run_op("HannWindow", 17, {i64({}, {1})}, {{"periodic", int64_t{0}}}), Unsupported);
    EXPECT_THROW(run_op("HannWindow", 17, {i64({}, {0})}), UserError);
    EXPECT_THROW(run_op("HannWindow", 17, {i64({}, {2})}, {{"output_datatype", int64_t{8}}}), Unsupported);
}

TEST(MelWeightMatrix, BandsNarrowerThanBins) {
    {
        const auto y = run_op("MelWeightMatrix", 17,
                              {i64({}, {4}), i64({}, {8}), i64({}, {800}), f32({}, {0}), f32({}, {300})}, {}, 1);
        expect_values(y[0], {5, 4}, {1, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0});
    }
}

TEST(MelWeightMatrix, RefusesEdgesOutside) {
    const std::vector<Tensor> counts{i64({}, {4}), i64({}, {8}), i64({}, {800})};
    EXPECT_THROW(run_op("MelWeightMatrix", 17, {counts[0], counts[1], counts[2], f32({}, {0}), f32({}, {4000})}),
                 UserError);
    EXPECT_THROW(run_op("MelWeightMatrix", 17, {counts[0], counts[1], counts[2], f32({}, {300}), f32({}, {100})}),
                 UserError);
}

}  // namespace
}  // namespace headway
