#include "measure/guards.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "measure/clock.h"
#include "measure/statistics.h"

namespace headway {
namespace {

constexpr size_t readings_before_judging = 5;
// About 0.1 ms a run; the best of three, because an interrupted run says nothing about the clock.
constexpr int64_t canary_additions = 400'000;
constexpr int canary_runs = 3;

bool grew(const std::optional<int64_t>& before, const std::optional<int64_t>& after) {
    return before && after && *after > *before;
}

std::string percent(double share) {
    const auto tenths = static_cast<int64_t>(std::lround(share * 1000));
    return std::to_string(tenths / 10) + "." + std::to_string(std::abs(tenths % 10)) + " %";
}

}  // namespace

std::optional<std::string> counter_fault(const HostCounters& before, const HostCounters& after, int64_t round_ns,
                                         int engines, const GuardRules& rules) {
    HEADWAY_CHECK(engines > 0);
    if (grew(before.throttled_periods, after.throttled_periods)) return "cgroup throttling";
    if (grew(before.thermal_events, after.thermal_events)) return "thermal throttling";
    if (grew(before.major_faults, after.major_faults)) return "page fault from disk";
    const double share = run_delay_share(before, after, round_ns, engines);
    if (share > rules.most_run_delay) return "run-queue delay of " + percent(share) + " of a block";
    return std::nullopt;
}

double run_delay_share(const HostCounters& before, const HostCounters& after, int64_t round_ns, int engines) {
    HEADWAY_CHECK(engines > 0);
    int64_t longest = 0;
    for (const auto& [thread, delay] : after.run_delay_ns)
        if (const auto old = before.run_delay_ns.find(thread); old != before.run_delay_ns.end())
            longest = std::max(longest, delay - old->second);
    return static_cast<double>(longest) * engines / static_cast<double>(std::max<int64_t>(round_ns, 1));
}

double steal_share(const HostCounters& before, const HostCounters& after) {
    if (!before.steal_ticks || !after.steal_ticks || !before.total_ticks || !after.total_ticks) return 0;
    const int64_t total = *after.total_ticks - *before.total_ticks;
    return total > 0 ? static_cast<double>(*after.steal_ticks - *before.steal_ticks) / static_cast<double>(total) : 0;
}

bool is_quiet(const HostLoad& load) { return !load.runnable || *load.runnable <= 1; }

double canary_ghz() {
    int64_t best = INT64_MAX;
    for (int run = 0; run < canary_runs; ++run) {
        uint64_t sum = 0;
        uint64_t step = 3;
        const int64_t begin = clock_ns();
        for (int64_t i = 0; i < canary_additions; i += 8) {
            // a register operand: newer cores fold additions of constants into no time at all
            for (int k = 0; k < 8; ++k) {
                sum += step;
                asm volatile("" : "+r"(sum), "+r"(step));
            }
        }
        best = std::min(best, clock_ns() - begin);
    }
    return static_cast<double>(canary_additions) / static_cast<double>(std::max<int64_t>(best, 1));
}

std::optional<std::string> ClockRateWatch::record(double ghz) {
    readings_.push_back(ghz);
    if (readings_.size() < readings_before_judging) return std::nullopt;
    change_ = ghz / median(readings_) - 1;
    if (std::fabs(change_) <= most_change_) return std::nullopt;
    return "clock rate " + percent(std::fabs(change_)) + (change_ < 0 ? " below" : " above") + " the session's";
}

HostGuard::HostGuard(const HostSignals& signals, std::vector<int> pids, ClockRateWatch& clock_rate, GuardRules rules)
    : signals_(signals), pids_(std::move(pids)), clock_rate_(clock_rate), rules_(rules) {}

void HostGuard::begin_round() { before_ = signals_.counters(pids_); }

std::optional<std::string> HostGuard::end_round(int64_t round_ns) {
    const HostCounters after = signals_.counters(pids_);
    auto clock_fault = clock_rate_.record(canary_ghz());
    const int engines = std::max<int>(1, static_cast<int>(pids_.size()));
    run_delay_ = run_delay_share(before_, after, round_ns, engines);
    if (auto fault = counter_fault(before_, after, round_ns, engines, rules_)) return fault;
    return clock_fault;
}

}  // namespace headway
