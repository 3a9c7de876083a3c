// What `bench` found, and its JSON: the fields that scripts rely on, which may be added to but not renamed.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "measure/finding.h"
#include "measure/judge.h"
#include "measure/scenario.h"

namespace headway {

struct BenchEngine {
    std::string engine;
    double median_ms = 0, p5_ms = 0, p95_ms = 0;
    double samples_per_s = 0;  // of all streams, at the median; a call without a declared batch counts as one sample
};

struct BenchComparison {
    std::string engine, against;
    Comparison result;                 // speed-up: time of `against` over time of `engine`
    std::vector<double> log_speedups;  // a value per visit
};

// What the guards did in a bench.
struct BenchGuards {
    int rounds = 0, dropped = 0;
    std::map<std::string, int> fired;  // rounds by the guard that dropped them
    double most_steal = 0;             // share of a visit's CPU time that the hypervisor took
    std::vector<std::string> missing;  // that this machine cannot have
};

struct BenchResult {
    std::vector<BenchEngine> engines;
    std::vector<BenchComparison> comparisons;
    std::string scenario = "latency";
    BenchGuards guards;
    std::string machine_json = "{}";  // of MachineFacts
};

// Times of one call in milliseconds, one per block: its mean, in the tail scenario the bound of its percentile.
BenchEngine summarise_times(std::string engine, std::span<const double> call_ms, const Scenario& scenario);

// {"scenario","engines":[{"engine","median_ms","p5_ms","p95_ms","samples_per_s"}],"comparisons":[{"engine","against","speedup","low","high",
// "verdict","resolution","why",
// "log_speedups":[one a visit]}],"guards":{"rounds","dropped","fired":{NAME:
// rounds},"most_steal","missing"},"machine":{...}}
std::string bench_json(const BenchResult& result);

}  // namespace headway
