#include "base/rng.h"

#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <vector>

#include "base/error.h"

namespace headway {
namespace {

// The C++ standard fixes mt19937_64: its 10000th number with the default seed.
TEST(Rng, IsTheStandardEngine) {
    Rng rng(5489u);
    for (int i = 0; i < 9999; ++i) rng.next();
    EXPECT_EQ(rng.next(), 9981545732273789042u);
}

TEST(Rng, BelowIsUniformAndInRange) {
    Rng rng(1);
    std::array<int, 6> seen{};
    for (int i = 0; i < 60000; ++i) ++seen.at(rng.below(6));
    for (const int count : seen) EXPECT_NEAR(count, 10000, 400);
    EXPECT_EQ(rng.below(1), 0u);
    EXPECT_THROW(rng.below(0), InternalError);
}

TEST(Rng, UnitCoversTheInterval) {
    Rng rng(2);
    double low = 1, high = 0, sum = 0;
    for (int i = 0; i < 10000; ++i) {
        const double x = rng.unit();
        low = std::min(low, x), high = std::max(high, x), sum += x;
    }
    EXPECT_GE(low, 0.0);
    EXPECT_LT(high, 1.0);
    EXPECT_NEAR(sum / 10000, 0.5, 0.02);
}

TEST(Rng, ShuffleReachesEveryOrderEquallyAndRepeats) {
    std::vector<int> first(10), second(10);
    std::iota(first.begin(), first.end(), 0);
    second = first;
    Rng a(7), b(7);
    a.shuffle(std::span(first));
    b.shuffle(std::span(second));
    EXPECT_EQ(first, second);

    Rng rng(3);
    std::array<std::array<int, 3>, 3> seen{};
    for (int i = 0; i < 9000; ++i) {
        std::array<int, 3> items{0, 1, 2};
        rng.shuffle(std::span<int>(items));
        for (size_t at = 0; at < 3; ++at) ++seen[at][static_cast<size_t>(items[at])];
    }
    for (const auto& row : seen)
        for (const int count : row) EXPECT_NEAR(count, 3000, 200);
}

}  // namespace
}  // namespace headway
