// bench, without its command line: whole engines against each other in interleaved visits of fresh processes.
#pragma once

#include <string>
#include <vector>

#include "measure/bench_result.h"
#include "tuner/visits.h"

namespace headway {

struct BenchOperand {
    std::string name;              // as the user wrote it
    std::string engine;            // the file
    Workshop* workshop = nullptr;  // opened on its model, or on the engine itself
};

struct BenchOptions {
    int visits = 12;
    int rounds = 6;
    double margin = 0.005;  // smallest log speed-up worth a verdict
    Scenario scenario;
    uint64_t seed = 1;
    std::optional<GuardRules> rules;  // of the machine's profile
    bool guards = true;
    const std::atomic<bool>* stop = nullptr;
};

// The first operand is compared with each of the others. UserError naming an operand that cannot run. Ctrl-C ends with
// the visits made so far; fewer than two give NO_GAIN with the reason `budget`.
BenchResult bench(const std::vector<BenchOperand>& operands, const BenchOptions& options);

}  // namespace headway
