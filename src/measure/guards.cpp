#include "measure/guards.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/text.h"
#include "measure/statistics.h"

namespace headway {
namespace {

bool grew(const std::optional<int64_t>& before, const std::optional<int64_t>& after) {
    return before && after && *after > *before;
}

}  // namespace

std::optional<std::string> counter_fault(const HostCounters& before, const HostCounters& after, int64_t round_ns,
                                         int engines, const GuardRules& rules) {
    HEADWAY_CHECK(engines > 0);
    if (grew(before.throttled_periods, after.throttled_periods)) return "cgroup throttling";
    if (grew(before.thermal_events, after.thermal_events)) return "thermal throttling";
    if (grew(before.swap_ins, after.swap_ins)) return "swapping";
    if (grew(before.major_faults, after.major_faults)) return "page fault from disk";
    const double share = run_delay_share(before, after, round_ns, engines);
    if (share > rules.most_run_delay) return "run-queue delay of " + percent(share) + " of a block";
    return std::nullopt;
}

std::optional<int64_t> foreign_cpu_ns(const HostCounters& before, const HostCounters& after) {
    constexpr int64_t tick_ns = 10'000'000;
    if (!before.busy_ticks || !after.busy_ticks) return std::nullopt;
    int64_t own = after.own_cpu_ns - before.own_cpu_ns;
    for (const auto& [id, thread] : after.threads)
        if (const auto old = before.threads.find(id); old != before.threads.end())
            own += thread.cpu_ns - old->second.cpu_ns;
    return std::max<int64_t>(0, (*after.busy_ticks - *before.busy_ticks - 1) * tick_ns - own);
}

double run_delay_share(const HostCounters& before, const HostCounters& after, int64_t round_ns, int engines) {
    HEADWAY_CHECK(engines > 0);
    const int64_t foreign = foreign_cpu_ns(before, after).value_or(INT64_MAX);
    int64_t longest = 0;
    for (const auto& [id, thread] : after.threads)
        if (const auto old = before.threads.find(id); old != before.threads.end()) {
            const int64_t delay = thread.run_delay_ns - old->second.run_delay_ns;
            longest = std::max(longest, thread.alone ? delay : std::min(delay, foreign));
        }
    return static_cast<double>(longest) * engines / static_cast<double>(std::max<int64_t>(round_ns, 1));
}

double steal_share(const HostCounters& before, const HostCounters& after) {
    if (!before.steal_ticks || !after.steal_ticks || !before.total_ticks || !after.total_ticks) return 0;
    const int64_t total = *after.total_ticks - *before.total_ticks;
    return total > 0 ? static_cast<double>(*after.steal_ticks - *before.steal_ticks) / static_cast<double>(total) : 0;
}

bool is_quiet(const HostLoad& load) { return !load.runnable || *load.runnable <= 1; }

GuardRules fitted_rules(std::span<const RoundReading> readings) {
    constexpr double usual = 0.9, slack = 2, most_slack = 10;  // what is beyond that is no peculiarity of the machine
    const auto limit = [&](double strict, auto&& reading) {
        std::vector<double> values;
        for (const RoundReading& round : readings) values.push_back(std::fabs(reading(round)));
        return values.empty() ? strict : std::clamp(slack * quantile(values, usual), strict, most_slack * strict);
    };
    GuardRules rules;
    rules.most_run_delay = limit(rules.most_run_delay, [](const RoundReading& r) { return r.run_delay; });
    rules.most_lost = limit(rules.most_lost, [](const RoundReading& r) { return r.lost; });
    rules.most_clock_change = limit(rules.most_clock_change, [](const RoundReading& r) { return r.clock_change; });
    rules.most_memory_change = limit(rules.most_memory_change, [](const RoundReading& r) { return r.memory_change; });
    return rules;
}

HostGuard::HostGuard(const HostSignals& signals, Canaries& canaries, std::vector<int> pids, const GuardRules& rules)
    : signals_(signals), canaries_(canaries), pids_(std::move(pids)), rules_(rules) {
    canaries_.clock.allow(rules.most_clock_change);
    canaries_.memory.allow(rules.most_memory_change);
}

void HostGuard::begin_round() {
    lost_ = 0;
    before_ = signals_.counters(pids_);
}

void HostGuard::block_lost(int64_t lost_ns, int64_t block_ns) {
    lost_ = std::max(lost_, static_cast<double>(lost_ns) / static_cast<double>(std::max<int64_t>(block_ns, 1)));
}

std::optional<std::string> HostGuard::end_round(int64_t round_ns) {
    const HostCounters after = signals_.counters(pids_);
    const int engines = std::max<int>(1, static_cast<int>(pids_.size()));
    RoundReading reading{run_delay_share(before_, after, round_ns, engines), lost_};
    reading.clock_ghz = canary_ghz();
    reading.memory_gb_per_s = canaries_.sweep.read_gb_per_s();
    const auto clock_fault = canaries_.clock.record(reading.clock_ghz);
    const auto memory_fault = canaries_.memory.record(reading.memory_gb_per_s);
    reading.clock_change = canaries_.clock.change();
    reading.memory_change = canaries_.memory.change();
    readings_.push_back(reading);
    if (auto fault = counter_fault(before_, after, round_ns, engines, rules_)) return fault;
    if (lost_ > rules_.most_lost) return "CPU taken away for " + percent(lost_) + " of a block";
    return clock_fault ? clock_fault : memory_fault;
}

}  // namespace headway
