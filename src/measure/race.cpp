#include "measure/race.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "base/error.h"
#include "measure/statistics.h"

namespace headway {

std::vector<RaceStage> race_stages(int candidates, int finalists) {
    std::vector<RaceStage> stages;
    int alive = candidates;
    for (const auto& [visits, divisor] : {std::pair(2, 2), {2, 4}, {3, 8}, {4, 16}}) {
        const int keep = std::max(finalists, (candidates + divisor - 1) / divisor);
        if (keep >= alive) break;
        stages.push_back({visits, keep});
        alive = keep;
    }
    if (candidates > 0) {
        stages.push_back({5, std::min(alive, finalists)});
        stages.push_back({6, std::min(alive, finalists)});
    }
    return stages;
}

Race::Race(int candidates, RaceRules rules, uint64_t seed)
    : rules_(rules),
      stages_(race_stages(candidates, rules.finalists)),
      standings_(static_cast<size_t>(candidates)),
      rng_(seed) {
    HEADWAY_CHECK(rules.heat_size > 0);
    for (int candidate = 0; candidate < candidates; ++candidate)
        standings_[static_cast<size_t>(candidate)].candidate = candidate;
}

std::vector<int> Race::survivors() const {
    std::vector<int> alive;
    for (const Standing& standing : standings_)
        if (standing.in_race) alive.push_back(standing.candidate);
    return alive;
}

bool Race::by_mean(int a, int b) const {
    const Standing& left = standings_[static_cast<size_t>(a)];
    const Standing& right = standings_[static_cast<size_t>(b)];
    const auto key = [](const Standing& standing) {
        return std::tuple(!standing.in_race, standing.values.empty(), -standing.mean, standing.candidate);
    };
    return key(left) < key(right);
}

std::vector<Heat> Race::next_wave() {
    if (waves_ == 1) drop_clear_losers();
    while (stage_ < stages_.size() && waves_in_stage_ == stages_[stage_].visits) end_stage();
    std::vector<int> alive = survivors();
    if (stage_ == stages_.size() || alive.empty()) return {};
    ++waves_;
    ++waves_in_stage_;
    rng_.shuffle(std::span(alive));
    // heats of nearly equal size: each costs a reference
    const size_t most = static_cast<size_t>(rules_.heat_size);
    const size_t heats = (alive.size() + most - 1) / most;
    wave_.assign(heats, {});
    for (size_t i = 0; i < alive.size(); ++i) wave_[i % heats].push_back(alive[i]);
    return wave_;
}

void Race::record(int candidate, double log_speedup) {
    Standing& standing = standings_.at(static_cast<size_t>(candidate));
    standing.values.push_back(log_speedup);
    standing.mean = mean(standing.values);
}

void Race::withdraw(int candidate) { standings_.at(static_cast<size_t>(candidate)).in_race = false; }

void Race::drop_clear_losers() {
    for (const Heat& heat : wave_) {
        double best = -HUGE_VAL;
        for (const int candidate : heat) {
            const Standing& standing = standings_[static_cast<size_t>(candidate)];
            if (standing.in_race && !standing.values.empty()) best = std::max(best, standing.mean);
        }
        for (const int candidate : heat) {
            const Standing& standing = standings_[static_cast<size_t>(candidate)];
            if (!standing.values.empty() && standing.mean < best - rules_.clear_loser) withdraw(candidate);
        }
    }
}

void Race::end_stage() {
    std::vector<int> alive = survivors();
    std::sort(alive.begin(), alive.end(), [&](int a, int b) { return by_mean(a, b); });
    for (size_t i = static_cast<size_t>(stages_[stage_].keep); i < alive.size(); ++i) withdraw(alive[i]);
    ++stage_;
    waves_in_stage_ = 0;
}

std::vector<Standing> Race::standings() const {
    std::vector<Standing> sorted = standings_;
    std::sort(sorted.begin(), sorted.end(),
              [&](const Standing& a, const Standing& b) { return by_mean(a.candidate, b.candidate); });
    return sorted;
}

}  // namespace headway
