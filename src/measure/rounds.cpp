#include "measure/rounds.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "measure/statistics.h"

namespace headway {

std::vector<RoundOrder> round_orders(int engines, int rounds, Rng& rng) {
    HEADWAY_CHECK(engines > 0 && rounds >= 0);
    std::vector<RoundOrder> orders;
    RoundOrder order(static_cast<size_t>(engines));
    std::iota(order.begin(), order.end(), 0);
    for (int round = 0; round < rounds; ++round) {
        if (round % engines == 0)
            rng.shuffle(std::span(order));
        else
            std::rotate(order.begin(), order.begin() + 1, order.end());
        orders.push_back(order);
    }
    return orders;
}

std::vector<double> paired_log_ratios(std::span<const RoundTimes> rounds, int engine) {
    std::vector<double> ratios;
    for (const RoundTimes& times : rounds) {
        const int64_t reference = times.at(0);
        const int64_t other = times.at(static_cast<size_t>(engine));
        HEADWAY_CHECK(reference > 0 && other > 0);
        ratios.push_back(std::log(static_cast<double>(reference) / static_cast<double>(other)));
    }
    return ratios;
}

double visit_value(std::span<const RoundTimes> rounds, int engine) { return median(paired_log_ratios(rounds, engine)); }

int tied_rounds(std::span<const RoundTimes> rounds, int engine) {
    return static_cast<int>(std::count_if(rounds.begin(), rounds.end(), [&](const RoundTimes& times) {
        return times.at(0) == times.at(static_cast<size_t>(engine));
    }));
}

}  // namespace headway
