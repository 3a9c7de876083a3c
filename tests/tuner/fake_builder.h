// A builder without a compiler, for tests of the tuner: its "model" is a JSON script that plants a landscape of times
// and faults, its engines are small JSON files, and its clock is virtual. The model it pretends to run is the identity.
//
//     {"base_ns": 1000000, "noise": 0.005,
//      "knobs": [{"name": "k.a", "values": ["0", "1", "2"]}, ...],
//      "effects": {"k.a=1": -0.10, "k.a=1,k.b=1": 0.05},     log time, added when all settings hold
//      "inert": ["k.c"],                                      knobs that change nothing, not even the fingerprint
//      "hidden": {"k.a=1": ["k.c"]},                          knobs that change nothing while the settings hold
//      "elements": 4,                                         of the input, and of the output
//      "clock_step_ns": 1000000,                              the clock moves in such steps
//      "faults": {"k.b=2": "crash"}}
// Effects and faults may also depend on the builder's name, as "builder=other": several fakes can meet in a study.
// With _once behind it one of crash_open, crash_reference, crash_build, crash_load, crash_check, crash_run and
// crash_certify strikes one process only. Fault of opening: crash_open. Faults of a build: crash, hang, memory,
// rubbish, refuse, unsupported, throw. Faults of an engine: crash_load, crash_run, hang_run, wrong, nan, flaky,
// wrong_heldout (wrong only on samples with "heldout" in their path), cold_fast (half the time in the first iterations
// after loading, planted to fool a measurement of an engine alone), crash_later (after some hundred iterations), cached
// (the outputs of the first sample for every sample). Fault of the builder: two_engines (every second build of the
// model gives another engine).
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "workers/builder.h"

namespace headway {

class FakeBuilder final : public Builder {
public:
    // `protocol_fd`: a copy of the protocol's descriptor, to print rubbish on.
    FakeBuilder(std::string name, int protocol_fd) : name_(std::move(name)), protocol_fd_(protocol_fd) {}

    BuilderVersion version() override { return {name_, "1"}; }
    OpenedModel open(const OpenRequest& request) override;
    BuilderDescription describe() override;
    BuiltEngine build(const std::string& route, const std::string& engine, const std::string& ledger) override;
    void load(const std::string& engine, int streams) override;
    void check(const std::string& engine, const std::string& data, const std::string& out) override;
    void run(const std::string& engine, int64_t iterations, int stream) override;
    std::vector<StepTime> profile(const std::string& engine, int64_t iterations) override;
    void reference(const std::string& data, const std::string& out) override;
    // Only a builder that is not called native.
    std::vector<Snippet> snippets(const std::string& engine) override;
    void certify(const std::string& engine, const std::string& json) override;

    int64_t clock_ns() const { return clock_ns_ / clock_step_ns_ * clock_step_ns_; }

private:
    struct Effect {
        std::map<std::string, std::string> when;
        double log_time = 0;
    };
    struct Loaded {
        std::set<std::string> faults;
        double iteration_ns = 0;
        int64_t iterations = 0;
        uint64_t seed = 0;
        int64_t process = 0;      // number of this process among those that loaded the engine
        std::string first_input;  // of the first sample that was checked
    };
    using Settings = std::map<std::string, std::string>;

    Settings parse(const std::string& route) const;
    // A fault that is planted, or that is planted as FAULT_once and has not struck any process yet.
    bool strikes(const std::set<std::string>& planted, const std::string& fault) const;
    std::set<std::string> faults(const Settings& settings) const;
    void fail_build(const std::string& fault);
    std::string fingerprint(const Settings& settings) const;

    std::string name_;
    int protocol_fd_;
    int64_t clock_ns_ = 0, clock_step_ns_ = 1;
    std::string model_;
    std::string model_hash_;
    double base_ns_ = 1e6, noise_ = 0;
    std::vector<KnobDescription> knobs_;
    std::vector<Effect> effects_;
    std::set<std::string> inert_;
    std::vector<std::pair<Settings, std::set<std::string>>> hidden_;
    std::vector<std::pair<Settings, std::string>> faults_;
    std::map<std::string, Loaded> loaded_;
};

}  // namespace headway
