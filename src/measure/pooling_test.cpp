#include "measure/pooling.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/error.h"

namespace headway {
namespace {

TEST(Pooling, OneEstimateStaysAsItIs) {
    const Estimate pooled = pool(std::vector<Estimate>{{0.1, 0.02}});
    EXPECT_NEAR(pooled.value, 0.1, 1e-15);
    EXPECT_NEAR(pooled.standard_error, 0.02, 1e-15);
}

TEST(Pooling, EstimatesThatAgreeAreWeightedByTheirErrors) {
    const Estimate pooled = pool(std::vector<Estimate>{{0.10, 0.01}, {0.11, 0.02}});
    EXPECT_NEAR(pooled.value, (0.10 * 4 + 0.11) / 5, 1e-12);
    EXPECT_NEAR(pooled.standard_error, 0.01 / std::sqrt(1.25), 1e-12);
}

// Scatter 50, weights 10000 each: variance between = 49 / 10000, so each weighs 1 / (0.0001 + 0.0049) = 200.
TEST(Pooling, EstimatesThatDisagreeWidenTheError) {
    const Estimate pooled = pool(std::vector<Estimate>{{0.1, 0.01}, {0.2, 0.01}});
    EXPECT_NEAR(pooled.value, 0.15, 1e-12);
    EXPECT_NEAR(pooled.standard_error, 0.05, 1e-12);
}

TEST(Pooling, NothingToPoolIsABrokenInvariant) { EXPECT_THROW(pool({}), InternalError); }

}  // namespace
}  // namespace headway
