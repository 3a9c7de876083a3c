#include "measure/finalists.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "measure/statistics.h"

namespace headway {
namespace {

constexpr double two_sided_95 = 1.96;

// Spread of a visit value, from all contenders together: one contender's few visits say little about it.
double pooled_variance(std::span<const Contender> contenders) {
    double squares = 0, freedom = 0;
    for (const Contender& contender : contenders) {
        const double sd = standard_deviation(contender.values);
        squares += sd * sd * static_cast<double>(contender.values.size() - 1);
        freedom += static_cast<double>(contender.values.size() - 1);
    }
    return freedom > 0 ? squares / freedom : 0;
}

bool simpler(const Contender& a, const Contender& b) {
    const auto key = [](const Contender& contender) {
        return std::tuple(contender.non_default_knobs, -contender.accuracy_margin, contender.memory_bytes,
                          contender.candidate);
    };
    return key(a) < key(b);
}

}  // namespace

std::vector<int> choose_finalists(std::span<const Contender> contenders, double margin, int most) {
    std::vector<Contender> left;
    for (const Contender& contender : contenders)
        if (!contender.values.empty() && mean(contender.values) >= margin) left.push_back(contender);
    const double variance = pooled_variance(left);
    std::vector<int> finalists;
    while (!left.empty() && static_cast<int>(finalists.size()) < most) {
        const auto best = std::max_element(left.begin(), left.end(), [](const Contender& a, const Contender& b) {
            return std::pair(mean(a.values), -a.candidate) < std::pair(mean(b.values), -b.candidate);
        });
        auto pick = best;
        for (auto other = left.begin(); other != left.end(); ++other) {
            const double visits =
                1.0 / static_cast<double>(best->values.size()) + 1.0 / static_cast<double>(other->values.size());
            const bool tied = mean(best->values) - mean(other->values) <= two_sided_95 * std::sqrt(variance * visits);
            if (tied && simpler(*other, *pick)) pick = other;
        }
        finalists.push_back(pick->candidate);
        left.erase(pick);
    }
    return finalists;
}

}  // namespace headway
