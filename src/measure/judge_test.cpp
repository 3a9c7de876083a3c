#include "measure/judge.h"

#include <gtest/gtest.h>

#include <vector>

#include "sim/visit_world.h"

namespace headway {
namespace {

using Values = std::vector<double>;

TEST(CompareFixed, SaysFasterAndSlower) {
    const Values faster{0.05, 0.051, 0.052, 0.049, 0.048, 0.05, 0.05, 0.053};
    const Comparison comparison = compare_fixed(faster, 0.005);
    EXPECT_EQ(comparison.finding, Finding::faster);
    EXPECT_NEAR(comparison.speedup.center, 1.0516, 1e-3);
    EXPECT_LT(comparison.speedup.low, comparison.speedup.center);
    Values slower;
    for (const double value : faster) slower.push_back(-value);
    EXPECT_EQ(compare_fixed(slower, 0.005).finding, Finding::slower);
    EXPECT_EQ(compare_fixed(faster, 0.06).finding, Finding::no_gain);
    EXPECT_EQ(compare_fixed(faster, 0.06).why, Why::resolution);
}

TEST(CompareFixed, TooFewVisitsClaimNothing) {
    const Comparison comparison = compare_fixed(Values{0.5, 0.5, 0.5}, 0.005);
    EXPECT_EQ(comparison.finding, Finding::no_gain);
    EXPECT_EQ(comparison.why, Why::budget);
}

TEST(CompareFixed, EqualEnginesAreRarelyToldApart) {
    VisitWorld world;
    int claims = 0;
    for (int i = 0; i < 2000; ++i) claims += compare_fixed(world.pair_values(0, 8), 0).finding != Finding::no_gain;
    EXPECT_LE(claims / 2000.0, 0.06);
}

TEST(Control, FitWhenACopyIsACopy) {
    VisitWorld world;
    int unfit = 0;
    for (int i = 0; i < 1000; ++i) unfit += !judge_control(world.pair_values(0, 12)).fit;
    EXPECT_LE(unfit, 20);
}

TEST(Control, UnfitWhenACopyDiffers) {
    Values values;
    for (int i = 0; i < 12; ++i) values.push_back(0.01 + 0.001 * (i % 3));
    const Control control = judge_control(values);
    EXPECT_FALSE(control.fit);
    EXPECT_DOUBLE_EQ(control.p, 2.0 / 4096);
}

TEST(Control, MarginGrowsWithTheNoise) {
    EXPECT_DOUBLE_EQ(judge_control(Values{0.001, -0.001, 0.001, -0.001}).margin, 0.005);
    const Control noisy = judge_control(Values{0.05, -0.05, 0.05, -0.05});
    EXPECT_NEAR(noisy.margin, 2 * noisy.spread / 2, 1e-12);
}

TEST(Dropped, MoreThanAFifthIsTooMany) {
    EXPECT_FALSE(too_many_dropped(2, 10));
    EXPECT_TRUE(too_many_dropped(3, 10));
    EXPECT_FALSE(too_many_dropped(0, 0));
}

// Pitfall: blocks of 50 ms on a clock that steps by 1 ms. Engines that differ by 0.7 % tie again and again; on a fine
// clock they never do.
TEST(Tied, ACoarseClockIsToldFromEqualEngines) {
    VisitWorld world(find_noise("quiet"));
    const double gain = 0.007;
    for (const int64_t step_ns : {int64_t{1}, int64_t{1'000'000}}) {
        int tied = 0, rounds = 0;
        for (int i = 0; i < 50; ++i) {
            std::vector<RoundTimes> times = world.visit(std::span(&gain, 1));
            for (RoundTimes& round : times)
                for (int64_t& time : round) time = time / step_ns * step_ns;
            tied += tied_rounds(times, 1);
            rounds += static_cast<int>(times.size());
        }
        EXPECT_EQ(too_many_tied(tied, rounds), step_ns > 1) << tied << " of " << rounds;
    }
    EXPECT_FALSE(too_many_tied(0, 0));
}

}  // namespace
}  // namespace headway
