#include "measure/statistics.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "base/rng.h"
#include "sim/visit_world.h"

namespace headway {
namespace {

using Values = std::vector<double>;

TEST(Statistics, Centers) {
    const Values values{4, 1, 3, 2};
    EXPECT_DOUBLE_EQ(mean(values), 2.5);
    EXPECT_DOUBLE_EQ(median(values), 2.5);
    EXPECT_DOUBLE_EQ(median(Values{7, 1, 3}), 3);
    EXPECT_DOUBLE_EQ(quantile(values, 0), 1);
    EXPECT_DOUBLE_EQ(quantile(values, 1), 4);
    EXPECT_DOUBLE_EQ(quantile(values, 0.25), 1.75);
    EXPECT_DOUBLE_EQ(quantile(Values{5}, 0.95), 5);
    EXPECT_NEAR(standard_deviation(values), 1.2909944487, 1e-9);
    EXPECT_NEAR(standard_error(values), 0.6454972244, 1e-9);
    EXPECT_EQ(standard_deviation(Values{3}), 0);
    EXPECT_THROW(mean(Values{}), InternalError);
}

TEST(Statistics, StudentQuantiles) {
    EXPECT_NEAR(student_quantile(0.975, 1), 12.7062, 1e-4);
    EXPECT_NEAR(student_quantile(0.975, 10), 2.2281, 1e-4);
    EXPECT_NEAR(student_quantile(0.025, 10), -2.2281, 1e-4);
    EXPECT_THROW(student_quantile(0.5, 0), InternalError);
}

TEST(Statistics, LagOneCorrelation) {
    EXPECT_EQ(lag1_correlation(Values{1, 1, 1}), 0);
    EXPECT_NEAR(lag1_correlation(Values{1, -1, 1, -1}), -0.75, 1e-12);
    EXPECT_GT(lag1_correlation(Values{1, 2, 3, 4, 5, 6, 7, 8}), 0.5);
}

TEST(SignFlip, CountsPatternsExactly) {
    EXPECT_DOUBLE_EQ(sign_flip_p(Values{1, 2, 3}, Tail::greater), 1.0 / 8);
    EXPECT_DOUBLE_EQ(sign_flip_p(Values{1, 2, 3}, Tail::both), 2.0 / 8);
    EXPECT_DOUBLE_EQ(sign_flip_p(Values{-1, 2, 3}, Tail::greater), 2.0 / 8);
    EXPECT_DOUBLE_EQ(sign_flip_p(Values{-1, -2, -3}, Tail::greater), 1);
    EXPECT_DOUBLE_EQ(sign_flip_p(Values{0.1, 0.2, 0.3}, Tail::greater), 1.0 / 8);
    // (1,2,3) - 2 = (-1,0,1): four of eight sums reach 0 beside those above it
    EXPECT_DOUBLE_EQ(sign_flip_p(Values{1, 2, 3}, Tail::greater, 2), 6.0 / 8);
    EXPECT_DOUBLE_EQ(sign_flip_p(Values{0, 0, 0}, Tail::greater), 1);
    EXPECT_DOUBLE_EQ(sign_flip_p(Values{}, Tail::greater), 1);
}

TEST(SignFlip, TiesCountWhateverTheRounding) {
    // every pattern with exactly one minus ties with the observed one
    const Values values{0.1, 0.1, 0.1, 0.1, -0.1};
    EXPECT_DOUBLE_EQ(sign_flip_p(values, Tail::greater), 6.0 / 32);
}

TEST(SignFlip, RandomPatternsAgreeWithAllPatterns) {
    VisitWorld world;
    const Values values = world.pair_values(0.003, 16);
    uint64_t reached = 0;
    const double observed = mean(values) * 16 - 1e-12;
    for (uint64_t signs = 0; signs < 65536; ++signs) {
        double total = 0;
        for (size_t i = 0; i < 16; ++i) total += (signs >> i & 1) != 0 ? -values[i] : values[i];
        reached += total >= observed;
    }
    const double p = static_cast<double>(reached) / 65536;
    EXPECT_NEAR(sign_flip_p(values, Tail::greater), p, 4 * std::sqrt(p * (1 - p) / 9999) + 1e-4);
    EXPECT_EQ(sign_flip_p(values, Tail::greater), sign_flip_p(values, Tail::greater));
    EXPECT_DOUBLE_EQ(sign_flip_p(Values(100, 0.01), Tail::greater), 1.0 / 10000);
}

TEST(SignFlip, SmallestP) {
    EXPECT_DOUBLE_EQ(smallest_sign_flip_p(8), 1.0 / 256);
    EXPECT_DOUBLE_EQ(smallest_sign_flip_p(32), 1e-4);
}

TEST(Interval, IsStudents) {
    const Interval interval = t_interval(Values{1, 2, 3, 4, 5});
    EXPECT_DOUBLE_EQ(interval.center, 3);
    EXPECT_NEAR(interval.low, 3 - 1.963243, 1e-5);
    EXPECT_NEAR(interval.high, 3 + 1.963243, 1e-5);
    const Interval speedup = speedup_interval(Values{0.1, 0.1, 0.1});
    EXPECT_NEAR(speedup.center, std::exp(0.1), 1e-12);
    EXPECT_NEAR(speedup.low, speedup.high, 1e-12);
    EXPECT_THROW(t_interval(Values{1}), InternalError);
}

TEST(Resolution, IsThatOfThePlannedLooks) {
    EXPECT_NEAR(resolution(1, 8, 0.05 * 0.6 * 0.2), 3.35 / std::sqrt(8.0), 0.01);
    EXPECT_NEAR(resolution(1, 16, 0.05 * 0.6 * 0.3), 3.2 / std::sqrt(16.0), 0.01);
    EXPECT_NEAR(resolution(1, 32, 0.05 * 0.6 * 0.5), 3.0 / std::sqrt(32.0), 0.01);
}

// Under drift, bursts, outliers and layout the interval must cover the truth as often as it says.
TEST(Interval, CoversTheTruth) {
    VisitWorld world;
    int covered = 0;
    const int runs = 4000;
    for (int run = 0; run < runs; ++run) {
        const Interval interval = t_interval(world.pair_values(0.01, 12));
        covered += interval.low <= 0.01 && 0.01 <= interval.high;
    }
    EXPECT_NEAR(covered / double(runs), 0.95, 0.015);
}

}  // namespace
}  // namespace headway
