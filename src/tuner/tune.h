// headway tune, without its command line: finds the fastest engine inside the tolerance within a budget, or delivers
// the default engine and says why.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "data/gate.h"
#include "measure/finding.h"
#include "measure/machine_profile.h"
#include "measure/scenario.h"
#include "workers/client.h"

namespace headway {

struct TuneOptions {
    OpenRequest model;    // path, target, threads, bindings; the timing data is set by the tuner
    std::string data;     // folder of samples; "" = generated inputs
    std::string heldout;  // folder of held-out samples; "" = every third of `data`
    std::vector<std::string> builders = {"native"};
    std::string space;                // route space; "" = every value of every knob
    std::string strategy = "staged";  // of src/search
    Gate gate;
    Scenario scenario;
    double budget_s = 600;
    int most_trials = 0;  // 0 = no limit but the budget
    std::string study;    // folder
    std::string output;   // engine file
    uint64_t seed = 1;

    std::vector<std::string> worker_command;  // without --builder NAME
    int64_t memory_limit = 0;
    bool guards = true;
    std::optional<MachineProfile> profile;  // of this machine; without one the control of the study becomes it
    double build_deadline_s = 0;            // 0 = from the default's build time
    std::function<double()> clock;          // seconds
    const std::atomic<bool>* stop = nullptr;
};

struct TuneResult {
    Finding finding = Finding::no_gain;
    std::string why;  // in words, when no gain is claimed
    double speedup = 1, low = 1, high = 1;
    std::string builder, route;
    std::string engine, study;  // path of the delivered file, folder of the study
    int trials = 0, builds = 0;
    double seconds = 0;
    std::string tuning_accuracy = "null", heldout_accuracy = "null";  // JSON
    std::vector<Snippet> snippets;   // how to use the engine without Headway, when it is another runtime's
    std::vector<std::string> files;  // of the snippets, in the study

    // One line, the fields that scripts rely on.
    std::string json() const;
};

// UserError for what is the user's or the machine's fault; nothing is then left in place of the output.
TuneResult tune(const TuneOptions& options);

}  // namespace headway
