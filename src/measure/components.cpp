#include "measure/components.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "measure/statistics.h"

namespace headway {
namespace {

// Fewer than two rounds leave nothing to take the median of; beyond twelve a new process always tells more.
constexpr double fewest_rounds = 2;
constexpr double most_rounds = 12;

}  // namespace

Components variance_components(std::span<const std::vector<double>> visits) {
    HEADWAY_CHECK(visits.size() >= 2);
    double squares = 0, freedom = 0, inverse_lengths = 0;
    std::vector<double> means;
    for (const std::vector<double>& rounds : visits) {
        const double sd = standard_deviation(rounds);
        const auto length = static_cast<double>(rounds.size());
        squares += sd * sd * (length - 1);
        freedom += length - 1;
        inverse_lengths += 1 / length;
        means.push_back(mean(rounds));
    }
    HEADWAY_CHECK(freedom > 0);
    const double round_variance = squares / freedom;
    const double between = standard_deviation(means);
    const double from_rounds = round_variance * inverse_lengths / static_cast<double>(visits.size());
    return {std::sqrt(round_variance), std::sqrt(std::max(0.0, between * between - from_rounds))};
}

int best_rounds(const Components& components, double load_cost, double round_cost) {
    HEADWAY_CHECK(load_cost >= 0 && round_cost > 0);
    if (components.process_sd <= 0) return static_cast<int>(most_rounds);
    const double ratio = components.round_sd / components.process_sd;
    const double rounds = std::sqrt(load_cost / round_cost) * ratio;
    return static_cast<int>(std::lround(std::clamp(rounds, fewest_rounds, most_rounds)));
}

}  // namespace headway
