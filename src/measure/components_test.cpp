#include "measure/components.h"

#include <gtest/gtest.h>

#include "sim/visit_world.h"

namespace headway {
namespace {

TEST(Components, AreSeparated) {
    VisitWorld world({.layout_sd = 0.006, .block_sd = 0.01, .drift_sd = 0, .burst_chance = 0, .outlier_chance = 0});
    world.rounds = 8;
    std::vector<std::vector<double>> visits;
    for (int i = 0; i < 400; ++i) {
        const double same = 0;
        visits.push_back(paired_log_ratios(world.visit(std::span(&same, 1)), 1));
    }
    const Components components = variance_components(visits);
    EXPECT_NEAR(components.round_sd, 0.01 * 1.41421, 0.0005);
    EXPECT_NEAR(components.process_sd, 0.006 * 1.41421, 0.0006);
}

TEST(Components, NoProcessSpreadIsZeroNotNegative) {
    const std::vector<std::vector<double>> visits{{0.01, -0.01}, {0.01, -0.01}, {-0.01, 0.01}};
    EXPECT_EQ(variance_components(visits).process_sd, 0);
}

TEST(BestRounds, MoreWhenLoadingIsDearAndClamped) {
    const Components components{0.013, 0.0075};
    EXPECT_EQ(best_rounds(components, 0.3, 0.2), 2);
    EXPECT_EQ(best_rounds(components, 1.0, 0.1), 5);
    EXPECT_EQ(best_rounds(components, 1000, 0.1), 12);
    EXPECT_EQ(best_rounds(components, 0, 0.1), 2);
    EXPECT_EQ(best_rounds({0.01, 0}, 1, 1), 12);
}

}  // namespace
}  // namespace headway
