#include "measure/visit.h"

#include <algorithm>

#include "measure/clock.h"

namespace headway {

std::vector<RoundTimes> Visit::kept() const {
    std::vector<RoundTimes> kept;
    for (size_t round = 0; round < rounds.size(); ++round)
        if (!drops[round]) kept.push_back(rounds[round]);
    return kept;
}

int Visit::dropped() const {
    return static_cast<int>(
        std::count_if(drops.begin(), drops.end(), [](const auto& drop) { return drop.has_value(); }));
}

Visit run_visit(int engines, int rounds, const BlockPlan& plan, BlockRunner& runner, RoundGuard* guard, Rng& rng) {
    Visit visit;
    visit.orders = round_orders(engines, rounds, rng);
    for (const RoundOrder& order : visit.orders) {
        RoundTimes times(order.size());
        if (guard != nullptr) guard->begin_round();
        const int64_t begin = clock_ns();
        for (const int engine : order)
            times[static_cast<size_t>(engine)] = runner.block_ns(engine, plan.iterations, plan.preroll);
        const int64_t duration = clock_ns() - begin;
        visit.rounds.push_back(std::move(times));
        visit.drops.push_back(guard != nullptr ? guard->end_round(duration) : std::nullopt);
    }
    return visit;
}

}  // namespace headway
