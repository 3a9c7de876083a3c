// What Linux says about disturbances: counters read before and after a round. Every signal may be absent (containers,
// VMs, old kernels); absent ones are listed, never skipped in silence.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace headway {

// Counters that only grow.
struct HostCounters {
    std::optional<int64_t> steal_ticks, total_ticks;  // 10 ms each: too coarse for a round, used per visit
    std::optional<int64_t> busy_ticks;                // of all CPUs and tasks, steal left out
    struct Thread {
        int64_t run_delay_ns = 0;  // runnable, but another task had the CPU
        int64_t cpu_ns = 0;
        bool alone = false;  // the only thread of its process
    };
    std::map<int, Thread> threads;  // of the workers
    int64_t own_cpu_ns = 0;         // of this process
    std::optional<int64_t> major_faults;
    std::optional<int64_t> throttled_periods;  // by the cgroup's CPU quota
    std::optional<int64_t> thermal_events;
    std::optional<int64_t> swap_ins;  // pages, of the whole machine
};

struct HostLoad {
    std::optional<int> runnable;         // tasks running or waiting for a CPU, the reader included
    std::optional<int64_t> pressure_us;  // total time that some task waited for a CPU
};

class HostSignals {
public:
    // `root` is put before /proc and /sys.
    explicit HostSignals(std::string root = "");

    // `pids`: the worker processes.
    HostCounters counters(std::span<const int> pids) const;
    HostLoad load() const;
    // Names of the signals that this machine does not offer, sorted.
    std::vector<std::string> missing() const;

private:
    void read_cpu_times(HostCounters& counters) const;
    void read_process(int pid, HostCounters& counters) const;
    std::string find_cgroup_stat() const;

    std::string root_;
    std::string cgroup_stat_;  // path, empty when there is none with throttling
    std::vector<std::string> thermal_paths_;
};

}  // namespace headway
