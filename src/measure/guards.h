// Guards: rules that drop a whole round, all engines of it, because the machine was disturbed; never one engine's
// block, and never because of the measured time itself.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "measure/host_signals.h"
#include "measure/visit.h"

namespace headway {

struct GuardRules {
    double most_run_delay = 0.01;     // of a block, for any thread
    double most_clock_change = 0.03;  // of the canary, from its median in this session
    double most_steal = 0.05;         // of a visit's CPU time
};

// Why a round of `engines` blocks that took `round_ns` has to go. Counters that are absent on either side say nothing.
std::optional<std::string> counter_fault(const HostCounters& before, const HostCounters& after, int64_t round_ns,
                                         int engines, const GuardRules& rules = {});

// The longest that any thread waited for a CPU between two readings, as a share of one of `engines` blocks.
double run_delay_share(const HostCounters& before, const HostCounters& after, int64_t round_ns, int engines);

// Share of all CPU time that the hypervisor took away between two readings; 0 when it cannot be known.
double steal_share(const HostCounters& before, const HostCounters& after);

// No more tasks want a CPU than the reader itself.
bool is_quiet(const HostLoad& load);

// Effective clock rate from a chain of dependent additions, in GHz; works where no frequency can be read.
double canary_ghz();

// Whether the clock rate left the session's median. The median needs five readings before it judges.
class ClockRateWatch {
public:
    explicit ClockRateWatch(double most_change) : most_change_(most_change) {}
    std::optional<std::string> record(double ghz);
    // Of the last reading, relative to the median; 0 before there are enough.
    double change() const { return change_; }
    void allow(double most_change) { most_change_ = most_change; }

private:
    double most_change_;
    double change_ = 0;
    std::vector<double> readings_;
};

// The guards of this machine for rounds over the given worker processes.
class HostGuard final : public RoundGuard {
public:
    HostGuard(const HostSignals& signals, std::vector<int> pids, ClockRateWatch& clock_rate, GuardRules rules = {});
    void begin_round() override;
    std::optional<std::string> end_round(int64_t round_ns) override;
    // Of the last round, as run_delay_share.
    double run_delay() const { return run_delay_; }

private:
    const HostSignals& signals_;
    std::vector<int> pids_;
    ClockRateWatch& clock_rate_;
    GuardRules rules_;
    HostCounters before_;
    double run_delay_ = 0;
};

}  // namespace headway
