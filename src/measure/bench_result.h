// What `bench` found, and its JSON: the fields that scripts rely on, which may be added to but not renamed.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "measure/finding.h"
#include "measure/judge.h"

namespace headway {

struct BenchEngine {
    std::string engine;
    double median_ms = 0, p5_ms = 0, p95_ms = 0;
};

struct BenchComparison {
    std::string engine, against;
    Comparison result;  // speed-up: time of `against` over time of `engine`
};

struct BenchResult {
    std::vector<BenchEngine> engines;
    std::vector<BenchComparison> comparisons;
    std::string machine_json = "{}";  // of MachineFacts
};

// Times of one call, in milliseconds.
BenchEngine summarise_times(std::string engine, std::span<const double> call_ms);

// {"engines":[{"engine","median_ms","p5_ms","p95_ms"}],"comparisons":[{"engine","against","speedup","low","high",
// "verdict","resolution","why"}],"machine":{...}}
std::string bench_json(const BenchResult& result);

}  // namespace headway
