#include "measure/judge.h"

#include <algorithm>
#include <vector>

namespace headway {
namespace {

constexpr double control_level = 0.01;
constexpr double smallest_margin = 0.005;
constexpr double most_dropped = 0.2;
constexpr double most_tied = 0.2;

}  // namespace

Comparison compare_fixed(std::span<const double> log_speedups, double margin, double alpha) {
    Comparison result;
    const auto visits = static_cast<int>(log_speedups.size());
    result.speedup = speedup_interval(log_speedups);
    result.resolution = resolution(standard_deviation(log_speedups), visits, alpha / 2);
    if (smallest_sign_flip_p(visits) > alpha / 2) {
        result.why = Why::budget;
        return result;
    }
    std::vector<double> slowdowns;
    for (const double value : log_speedups) slowdowns.push_back(-value);
    if (sign_flip_p(log_speedups, Tail::greater, margin) <= alpha / 2)
        result.finding = Finding::faster;
    else if (sign_flip_p(slowdowns, Tail::greater, margin) <= alpha / 2)
        result.finding = Finding::slower;
    else
        result.why = Why::resolution;
    return result;
}

Control judge_control(std::span<const double> log_speedups) {
    Control control;
    control.p = sign_flip_p(log_speedups, Tail::both);
    control.fit = control.p >= control_level;
    control.spread = standard_deviation(log_speedups);
    control.margin = std::max(smallest_margin, 2 * standard_error(log_speedups));
    return control;
}

bool too_many_dropped(int dropped, int rounds) { return dropped > most_dropped * rounds; }

bool too_many_tied(int tied, int rounds) { return tied > most_tied * rounds; }

}  // namespace headway
