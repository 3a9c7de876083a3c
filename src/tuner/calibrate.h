// headway calibrate, without its command line: an engine against its own copy, which says what this machine's noise is.
#pragma once

#include <functional>

#include "measure/machine_profile.h"
#include "tuner/bench.h"

namespace headway {

struct CalibrateOptions {
    int visits = 20;
    int rounds = 12;
    uint64_t seed = 1;
    const std::atomic<bool>* stop = nullptr;
    std::function<void(int done, int visits)> progress;  // after each visit; may be empty
};

// What every bench needs and no stored profile gives: some seconds.
CalibrateOptions quick_calibration();

// `subject.engine` is copied to `copy`. UserError when it cannot run, or when Ctrl-C leaves fewer than two visits.
MachineProfile calibrate(const BenchOperand& subject, const std::string& copy, const CalibrateOptions& options);

}  // namespace headway
