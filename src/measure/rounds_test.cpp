#include "measure/rounds.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace headway {
namespace {

TEST(Rounds, EveryEngineFillsEveryPositionOncePerGroup) {
    for (const int engines : {1, 2, 3, 5}) {
        Rng rng(static_cast<uint64_t>(engines));
        const auto orders = round_orders(engines, 4 * engines, rng);
        for (size_t group = 0; group < 4; ++group)
            for (int position = 0; position < engines; ++position) {
                std::set<int> seen;
                for (int round = 0; round < engines; ++round)
                    seen.insert(orders[group * static_cast<size_t>(engines) + static_cast<size_t>(round)]
                                      [static_cast<size_t>(position)]);
                EXPECT_EQ(seen.size(), static_cast<size_t>(engines));
            }
    }
}

TEST(Rounds, TwoEnginesAreMirroredByCoin) {
    Rng rng(1);
    const auto orders = round_orders(2, 200, rng);
    int reference_first = 0;
    for (size_t round = 0; round < 200; round += 2) {
        EXPECT_EQ(orders[round][0], orders[round + 1][1]);
        reference_first += orders[round][0] == 0;
    }
    EXPECT_NEAR(reference_first, 50, 20);
}

TEST(Rounds, AnUnfinishedGroupIsCut) {
    Rng rng(1);
    EXPECT_EQ(round_orders(3, 4, rng).size(), 4u);
    EXPECT_TRUE(round_orders(3, 0, rng).empty());
}

TEST(Rounds, VisitValueIsTheMedianOfPairedLogRatios) {
    const std::vector<RoundTimes> rounds{{200, 100, 200}, {300, 300, 300}, {100, 400, 101}};
    const auto ratios = paired_log_ratios(rounds, 1);
    ASSERT_EQ(ratios.size(), 3u);
    EXPECT_NEAR(ratios[0], std::log(2.0), 1e-12);
    EXPECT_NEAR(ratios[2], -std::log(4.0), 1e-12);
    EXPECT_EQ(visit_value(rounds, 1), 0);
    EXPECT_EQ(tied_rounds(rounds, 1), 1);
    EXPECT_EQ(tied_rounds(rounds, 2), 2);
}

}  // namespace
}  // namespace headway
