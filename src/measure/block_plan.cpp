#include "measure/block_plan.h"

#include <algorithm>
#include <cmath>

#include "base/checked.h"
#include "base/error.h"
#include "measure/statistics.h"

namespace headway {
namespace {

constexpr int64_t least_clock_steps = 1000;
constexpr int64_t least_preroll = 2;
constexpr double preroll_ns = 10e6;

int64_t count_up(double duration, double iteration) { return static_cast<int64_t>(std::ceil(duration / iteration)); }

}  // namespace

BlockPlan plan_blocks(std::span<const double> iteration_ns, int64_t clock_resolution_ns, const BlockRules& rules) {
    HEADWAY_CHECK(!iteration_ns.empty());
    const double fastest = std::max(1.0, *std::min_element(iteration_ns.begin(), iteration_ns.end()));
    const double slowest = std::max(fastest, *std::max_element(iteration_ns.begin(), iteration_ns.end()));
    const auto for_the_clock = static_cast<double>(least_clock_steps * clock_resolution_ns);
    const double least = std::max(for_the_clock, static_cast<double>(rules.least_ns));
    const auto cap = static_cast<int64_t>(static_cast<double>(rules.most_ns) / slowest);

    BlockPlan plan;
    plan.iterations = static_cast<int64_t>(static_cast<double>(rules.target_ns) / slowest);
    plan.iterations = std::max(plan.iterations, count_up(least, fastest));
    plan.iterations = std::max<int64_t>(1, std::min(plan.iterations, cap));
    plan.preroll = std::max(least_preroll, std::min(count_up(preroll_ns, fastest), cap));
    plan.too_coarse = static_cast<double>(plan.iterations) * fastest < for_the_clock;
    return plan;
}

BlockPlan fitted_to(const Scenario& scenario, BlockPlan plan) {
    constexpr int64_t most_cold_calls = 8;
    if (scenario.kind == Scenario::Kind::cold) {
        plan.iterations = std::min(plan.iterations, most_cold_calls);
        plan.preroll = 0;
    }
    if (scenario.kind == Scenario::Kind::tail)
        plan.iterations =
            std::max(plan.iterations, ceil_div(least_tail_calls(scenario.percentile / 100), scenario.streams));
    return plan;
}

void Warmup::record(int64_t iteration_ns) {
    HEADWAY_CHECK(iteration_ns >= 0);
    ++iterations_;
    total_ns_ += iteration_ns;
    block_ns_ += iteration_ns;
    block_.push_back(static_cast<double>(iteration_ns));
    if (block_ns_ < rules_.mini_block_ns) return;
    medians_.push_back(median(block_));
    block_.clear();
    block_ns_ = 0;
    steady_ = steady_ || (iterations_ >= rules_.least_iterations && total_ns_ >= rules_.least_ns && settled());
}

bool Warmup::settled() const {
    if (medians_.size() < 3) return false;
    const double* last = medians_.data() + medians_.size() - 3;
    const auto [low, high] = std::minmax({last[0], last[1], last[2]});
    // three equal steps downwards are still a ramp, unless they are too small to matter
    const bool falling = last[0] > last[1] && last[1] > last[2] && high > low * (1 + rules_.tolerance / 2);
    return high <= low * (1 + rules_.tolerance) && !falling;
}

double Warmup::iteration_ns() const {
    if (!medians_.empty()) return medians_.back();
    HEADWAY_CHECK(!block_.empty());
    return median(block_);
}

int64_t common_warmup(std::span<const Warmup> warmups) {
    int64_t most = 0;
    for (const Warmup& warmup : warmups) most = std::max(most, warmup.iterations());
    return most;
}

}  // namespace headway
