#include "measure/visit.h"

#include <gtest/gtest.h>

#include <cmath>

#include "measure/statistics.h"
#include "sim/visit_world.h"

namespace headway {
namespace {

// Blocks cost a fixed overhead and so much per iteration.
struct FixedOverhead final : BlockRunner {
    std::vector<int64_t> iteration_ns;
    std::vector<int> calls;
    std::vector<int64_t> iterations_seen, prerolls_seen;
    int64_t block_ns(int engine, int64_t iterations, int64_t preroll) override {
        calls.push_back(engine);
        iterations_seen.push_back(iterations);
        prerolls_seen.push_back(preroll);
        return iterations * iteration_ns[static_cast<size_t>(engine)];
    }
};

TEST(Visit, RunsEveryEngineInEveryRoundWithTheSamePlan) {
    FixedOverhead runner;
    runner.iteration_ns = {1000, 500, 2000};
    Rng rng(1);
    const Visit visit = run_visit(3, 6, {.iterations = 7, .preroll = 2}, runner, nullptr, rng);
    EXPECT_EQ(runner.calls.size(), 18u);
    EXPECT_EQ(std::count(runner.iterations_seen.begin(), runner.iterations_seen.end(), 7), 18);
    EXPECT_EQ(std::count(runner.prerolls_seen.begin(), runner.prerolls_seen.end(), 2), 18);
    EXPECT_EQ(visit.rounds[5], (RoundTimes{7000, 3500, 14000}));
    EXPECT_EQ(visit.dropped(), 0);
    EXPECT_NEAR(visit_value(visit.kept(), 1), std::log(2), 1e-12);
    EXPECT_NEAR(visit_value(visit.kept(), 2), -std::log(2), 1e-12);
}

// Pitfall: a fixed cost per block spread over another number of iterations for each engine. Equal engines of 1 us
// beside one of 50 us, 200 us of fixed cost inside every block: with one plan for all the equal ones are equal.
TEST(Visit, AFixedCostPerBlockCancelsUnderOnePlan) {
    struct : BlockRunner {
        int64_t block_ns(int engine, int64_t iterations, int64_t) override {
            return 200'000 + iterations * (engine == 2 ? 50'000 : 1000);
        }
    } runner;
    const std::vector<double> iteration_ns{1000, 1000, 50'000};
    const BlockPlan plan = plan_blocks(iteration_ns, 1);
    Rng rng(1);
    const Visit visit = run_visit(3, 6, plan, runner, nullptr, rng);
    EXPECT_NEAR(visit_value(visit.kept(), 1), 0, 0.001);
    const auto own = [&](size_t engine) {
        const int64_t iterations = plan_blocks(std::span(&iteration_ns[engine], 1), 1).iterations;
        return static_cast<double>(runner.block_ns(static_cast<int>(engine), iterations, 0)) /
               static_cast<double>(iterations);
    };
    const double beside_the_slow = static_cast<double>(visit.rounds[0][0]) / static_cast<double>(plan.iterations);
    EXPECT_GT(std::log(beside_the_slow / own(1)), 0.01) << "the trap is not in the test";
}

// Pitfall: the first iterations are slow and only one engine's are left out. One warm-up for all, the longest that any
// needs, and the slow start of an engine is gone from its value.
TEST(Visit, ASlowStartIsWarmedUpForEverybody) {
    struct SlowStart : BlockRunner {
        int64_t slow_iterations = 0;  // of engine 1
        std::vector<int64_t> done = {0, 0};
        int64_t iteration_ns(int engine) {
            const int64_t index = done[static_cast<size_t>(engine)]++;
            return engine == 1 && index < slow_iterations ? 20'000'000 : 2'000'000;
        }
        int64_t block_ns(int engine, int64_t iterations, int64_t preroll) override {
            int64_t total = 0;
            for (int64_t i = 0; i < preroll; ++i) iteration_ns(engine);
            for (int64_t i = 0; i < iterations; ++i) total += iteration_ns(engine);
            return total;
        }
    };
    std::vector<double> values;
    for (const int64_t slow : {0, 5}) {
        SlowStart probe;
        probe.slow_iterations = slow;
        std::vector<Warmup> warmups(2);
        for (int engine : {0, 1})
            while (!warmups[static_cast<size_t>(engine)].finished())
                warmups[static_cast<size_t>(engine)].record(probe.iteration_ns(engine));
        SlowStart fresh;
        fresh.slow_iterations = slow;
        for (int engine : {0, 1}) fresh.block_ns(engine, common_warmup(warmups), 0);
        Rng rng(1);
        values.push_back(visit_value(run_visit(2, 2, {.iterations = 4, .preroll = 0}, fresh, nullptr, rng).kept(), 1));
    }
    EXPECT_EQ(values[0], values[1]);
}

// Pitfall: a guard that drops only the slow engine's block. Whole rounds go, and the ratio of equal engines stays 1.
TEST(Visit, GuardsDropWholeRoundsWithoutBias) {
    VisitWorld world({.burst_chance = 0, .outlier_chance = 0, .guard_chance = 0.05});
    world.rounds = 8;
    std::vector<double> values, with_disturbed;
    int dropped = 0, rounds = 0;
    const double same = 0;
    for (int i = 0; i < 600; ++i) {
        const Visit visit = world.run(std::span(&same, 1));
        const auto kept = visit.kept();
        EXPECT_EQ(visit.rounds.size(), 8u) << "all values are stored";
        EXPECT_EQ(kept.size() + static_cast<size_t>(visit.dropped()), 8u);
        for (const RoundTimes& round : kept) EXPECT_EQ(round.size(), 2u);
        dropped += visit.dropped();
        rounds += 8;
        values.push_back(mean(paired_log_ratios(kept, 1)));
        with_disturbed.push_back(mean(paired_log_ratios(visit.rounds, 1)));
    }
    EXPECT_NEAR(dropped / double(rounds), 0.145, 0.02);
    EXPECT_LT(mean(with_disturbed), -0.003);
    EXPECT_NEAR(mean(values), 0, 0.001 + 2 * standard_error(values));
}

// Pitfall: blocks run one engine after the other instead of interleaved give drift to one engine.
TEST(Visit, InterleavingCancelsDriftThatBlocksInARowDoNot) {
    VisitWorld world({.layout_sd = 0,
                      .block_sd = 0.003,
                      .drift_sd = 0.03,
                      .drift_memory = 0.98,
                      .burst_chance = 0,
                      .outlier_chance = 0});
    std::vector<double> interleaved, in_a_row;
    for (int i = 0; i < 500; ++i) {
        interleaved.push_back(world.pair_value(0));
        double reference = 0, other = 0;
        for (int block = 0; block < 4; ++block) reference += world.log_block(0) / 4;
        for (int block = 0; block < 4; ++block) other += world.log_block(0) / 4;
        in_a_row.push_back(reference - other);
    }
    EXPECT_LT(standard_deviation(interleaved) * 2, standard_deviation(in_a_row));
    EXPECT_LT(std::fabs(lag1_correlation(interleaved)), 0.15);
}

}  // namespace
}  // namespace headway
