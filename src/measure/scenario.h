// What is timed. Declared before anything is measured and stored with every figure: figures of two scenarios are never
// compared. All are closed loops: a caller makes its next call when the last one has answered.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace headway {

struct Scenario {
    enum class Kind {
        latency,     // warm calls, their mean time
        throughput,  // the same, of calls that carry a batch; figures in samples per second as well
        cold,        // the caches are swept before each call
        tail,        // warm calls, an upper bound of a percentile of their times
    };
    Kind kind = Kind::latency;
    int64_t batch = 0;       // throughput: samples joined into one call; 0 = calls are as the data are
    double percentile = 99;  // tail
    int streams = 1;         // callers at once

    // Joined by commas in this order: latency, throughput[:BATCH], cold or tail:PERCENTILE; streams:N. Either may be
    // left out. UserError naming the part that is wrong.
    static Scenario parse(std::string_view text);
    // Canonical; parse(text()) is the same scenario.
    std::string text() const;
    bool operator==(const Scenario&) const = default;
};

// For --help.
inline constexpr const char* scenario_help =
    "latency, throughput[:BATCH], cold or tail:PERCENTILE; with ,streams:N for N callers at once";

// A bound for the quantile `p` (0..1) of what the times are a sample of, right with 99 % confidence: the order
// statistic from the binomial tail (as MLPerf LoadGen's early stopping with d = 0). Needs least_tail_calls times.
int64_t tail_bound_ns(std::span<const int64_t> ns, double p);
// The fewest times that have such a bound.
int64_t least_tail_calls(double p);

}  // namespace headway
