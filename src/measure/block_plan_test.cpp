#include "measure/block_plan.h"

#include <gtest/gtest.h>

namespace headway {
namespace {

BlockPlan plan(std::vector<double> iteration_ns, int64_t resolution = 30) {
    return plan_blocks(iteration_ns, resolution);
}

TEST(BlockPlan, TargetsFiftyMillisecondsOfTheSlowest) {
    EXPECT_EQ(plan({1e6, 2e6}).iterations, 25);
    EXPECT_EQ(plan({2e6}).iterations, 25);
    EXPECT_EQ(plan({2e6}).preroll, 5);
    EXPECT_EQ(plan({40e6}).iterations, 1);
    EXPECT_EQ(plan({40e6}).preroll, 2);
}

TEST(BlockPlan, IsRaisedForTheFastest) {
    // 5 iterations of 10 ms leave the 1 ms engine with 5 ms blocks
    EXPECT_EQ(plan({1e6, 10e6}).iterations, 20);
    EXPECT_EQ(plan({1e6, 20e6}).iterations, 12) << "capped at 250 ms of the slowest";
    EXPECT_EQ(plan({1e6, 20e6}).preroll, 10);
    EXPECT_EQ(plan({1e6, 50e6}).preroll, 5) << "capped too";
}

TEST(BlockPlan, LongIterationsRunOnce) {
    EXPECT_EQ(plan({3e9}).iterations, 1);
    EXPECT_EQ(plan({3e9}).preroll, 2);
    EXPECT_EQ(plan({1e6, 3e9}).iterations, 1);
}

TEST(BlockPlan, ACoarseClockNeedsLongerBlocks) {
    EXPECT_EQ(plan({1e6}, 100'000).iterations, 100);
    EXPECT_FALSE(plan({1e6}, 100'000).too_coarse);
    EXPECT_TRUE(plan({1e6}, 1'000'000).too_coarse);
    EXPECT_EQ(plan({1e6}, 1'000'000).iterations, 250);
}

TEST(BlockPlan, TinyIterations) { EXPECT_EQ(plan({0.5}).iterations, 50'000'000); }

int64_t iterations_until_finished(Warmup& warmup, double first_ns, double decay, double final_ns) {
    double extra = first_ns - final_ns;
    while (!warmup.finished()) {
        warmup.record(static_cast<int64_t>(final_ns + extra));
        extra *= decay;
    }
    return warmup.iterations();
}

TEST(Warmup, ASteadyEngineNeedsTwoHundredMilliseconds) {
    Warmup warmup;
    EXPECT_EQ(iterations_until_finished(warmup, 1e6, 1, 1e6), 200);
    EXPECT_TRUE(warmup.steady());
    EXPECT_DOUBLE_EQ(warmup.iteration_ns(), 1e6);
}

TEST(Warmup, ARampIsWaitedFor) {
    Warmup warmup;
    const int64_t iterations = iterations_until_finished(warmup, 3e6, 0.99, 1e6);
    EXPECT_TRUE(warmup.steady());
    EXPECT_GT(iterations, 300);
    EXPECT_NEAR(warmup.iteration_ns(), 1e6, 0.05e6);
}

TEST(Warmup, LongIterationsNeedThreeAndTheTimeIsCapped) {
    Warmup slow;
    EXPECT_EQ(iterations_until_finished(slow, 300e6, 1, 300e6), 3);
    EXPECT_TRUE(slow.steady());
    Warmup restless;
    for (int i = 0; !restless.finished(); ++i) restless.record(i % 2 == 0 ? 100'000'000 : 150'000'000);
    EXPECT_FALSE(restless.steady());
    EXPECT_EQ(restless.iterations(), 16);
}

TEST(Warmup, EveryEngineGetsTheLongest) {
    std::vector<Warmup> warmups(2);
    iterations_until_finished(warmups[0], 1e6, 1, 1e6);
    iterations_until_finished(warmups[1], 3e6, 0.99, 1e6);
    EXPECT_EQ(common_warmup(warmups), warmups[1].iterations());
    EXPECT_EQ(common_warmup({}), 0);
}

TEST(BlockPlan, ScenariosChangeWhatTheyMust) {
    const BlockPlan plan{20, 5, false};
    EXPECT_EQ(fitted_to({}, plan).iterations, 20);
    EXPECT_EQ(fitted_to({}, plan).preroll, 5);
    const BlockPlan cold = fitted_to(Scenario::parse("cold"), plan);
    EXPECT_LT(cold.iterations, 20) << "each pays for a sweep of the caches";
    EXPECT_EQ(cold.preroll, 0);
    EXPECT_EQ(fitted_to(Scenario::parse("cold"), {1, 2, false}).iterations, 1);
    EXPECT_EQ(fitted_to(Scenario::parse("tail:99"), plan).iterations, least_tail_calls(0.99));
    EXPECT_EQ(fitted_to(Scenario::parse("tail:99,streams:2"), plan).iterations, 230) << "459 calls of both";
    EXPECT_EQ(fitted_to(Scenario::parse("tail:50"), plan).iterations, 20) << "there are enough";
}

}  // namespace
}  // namespace headway
