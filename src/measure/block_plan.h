// How long a block is and how often an engine runs before it counts. All engines of a heat get the same numbers:
// another count per engine would compare different amounts of fixed cost.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "measure/scenario.h"

namespace headway {

struct BlockRules {
    int64_t least_ns = 20'000'000;   // of the fastest engine's block, and 1000 clock steps at least
    int64_t target_ns = 50'000'000;  // of the slowest engine's block
    int64_t most_ns = 250'000'000;
};

struct BlockPlan {
    int64_t iterations = 1;   // timed, per block
    int64_t preroll = 2;      // untimed, before each block: the other engine owned the caches and the clock
    bool too_coarse = false;  // the fastest block stays under 1000 clock steps
};

// `iteration_ns`: one warm iteration of each engine of the heat.
BlockPlan plan_blocks(std::span<const double> iteration_ns, int64_t clock_resolution_ns, const BlockRules& rules = {});

// What the scenario changes: a tail needs calls enough for its bound, and cold calls are few, because each pays for a
// sweep of the caches, and need no preroll.
BlockPlan fitted_to(const Scenario& scenario, BlockPlan plan);

struct WarmupRules {
    int64_t least_iterations = 3;
    int64_t least_ns = 200'000'000;
    int64_t most_ns = 2'000'000'000;
    int64_t mini_block_ns = 20'000'000;
    double tolerance = 0.02;
};

// Follows the first iterations of one engine until three successive mini-blocks agree within the tolerance without a
// trend, or the time is up.
class Warmup {
public:
    explicit Warmup(WarmupRules rules = {}) : rules_(rules) {}

    void record(int64_t iteration_ns);
    bool finished() const { return steady_ || total_ns_ >= rules_.most_ns; }
    bool steady() const { return steady_; }
    int64_t iterations() const { return iterations_; }
    // Median of the last mini-block: an estimate of one warm iteration.
    double iteration_ns() const;

private:
    bool settled() const;

    WarmupRules rules_;
    int64_t iterations_ = 0;
    int64_t total_ns_ = 0;
    bool steady_ = false;
    std::vector<double> block_;  // iterations of the mini-block that is filling
    int64_t block_ns_ = 0;
    std::vector<double> medians_;
};

// The warm-up that every engine of the visit gets: the longest that any of them needs.
int64_t common_warmup(std::span<const Warmup> warmups);

}  // namespace headway
