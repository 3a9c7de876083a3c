// Guards: rules that drop a whole round, all engines of it, because the machine was disturbed; never one engine's
// block, and never because of the measured time itself.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "measure/cache_sweep.h"
#include "measure/canary.h"
#include "measure/host_signals.h"
#include "measure/visit.h"

namespace headway {

struct GuardRules {
    double most_run_delay = 0.01;      // of a block, for any thread
    double most_lost = 0.02;           // of a block: the CPU was taken away from its thread
    double most_clock_change = 0.03;   // of the canary, from its median in this session
    double most_memory_change = 0.15;  // the same: memory is shared with more neighbours than a core is
    double most_steal = 0.05;          // of a visit's CPU time
};

// What the guards read in one round.
struct RoundReading {
    double run_delay = 0;  // share of a block, of the thread that waited longest
    double lost = 0;       // share of a block, of the block that lost most
    double clock_ghz = 0, memory_gb_per_s = 0;
    double clock_change = 0, memory_change = 0;  // from the session's medians
};

// A machine that always runs something beside us, or whose clock always wanders, would drop every round. What is usual
// in these rounds is let pass, up to ten times the strict limits; what is worse than usual is not. Looks at the guards'
// own readings only, never at block times.
GuardRules fitted_rules(std::span<const RoundReading> readings);

// Why a round of `engines` blocks that took `round_ns` has to go. Counters that are absent on either side say nothing.
std::optional<std::string> counter_fault(const HostCounters& before, const HostCounters& after, int64_t round_ns,
                                         int engines, const GuardRules& rules = {});

// CPU time of tasks that are neither the workers' nor ours between two readings; nothing when it cannot be known. Made
// of ticks of 10 ms, and up to one of them too small.
std::optional<int64_t> foreign_cpu_ns(const HostCounters& before, const HostCounters& after);

// The longest that any thread waited for a CPU that others had between two readings, as a share of one of `engines`
// blocks. Threads of one engine may wait for each other (two that spin on one CPU until the system moves one of them):
// that is the engine's own speed, so that a process with several threads was disturbed for no longer than others ran.
double run_delay_share(const HostCounters& before, const HostCounters& after, int64_t round_ns, int engines);

// Share of all CPU time that the hypervisor took away between two readings; 0 when it cannot be known.
double steal_share(const HostCounters& before, const HostCounters& after);

// No more tasks want a CPU than the reader itself.
bool is_quiet(const HostLoad& load);

// The canaries of a session: what is usual is learned over all its visits.
struct Canaries {
    CanaryWatch clock{"clock rate", GuardRules{}.most_clock_change};
    CanaryWatch memory{"memory speed", GuardRules{}.most_memory_change};
    CacheSweep sweep;
};

// The guards of this machine for rounds over the given worker processes.
class HostGuard final : public RoundGuard {
public:
    HostGuard(const HostSignals& signals, Canaries& canaries, std::vector<int> pids, const GuardRules& rules);
    void begin_round() override;
    std::optional<std::string> end_round(int64_t round_ns) override;
    // A block of this round ran so long without the CPU, as its process saw it.
    void block_lost(int64_t lost_ns, int64_t block_ns);
    // Of the rounds so far.
    const std::vector<RoundReading>& readings() const { return readings_; }

private:
    const HostSignals& signals_;
    Canaries& canaries_;
    std::vector<int> pids_;
    GuardRules rules_;
    HostCounters before_;
    double lost_ = 0;
    std::vector<RoundReading> readings_;
};

}  // namespace headway
