// Runs visits: fresh worker processes, one per engine, interleaved blocks in rounds, guards around them. What a visit
// means is decided by src/measure; this is where processes meet it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/rng.h"
#include "measure/guards.h"
#include "measure/machine_lock.h"
#include "tuner/budget.h"
#include "tuner/study.h"
#include "tuner/workshop.h"

namespace headway {

// How one kind of visit is run.
struct VisitPlan {
    Purpose purpose = Purpose::screen;
    int rounds = 2;
    int64_t warmup_iterations = 3;  // of every engine
    BlockRules blocks;
    Scenario scenario;
};

struct Visitor {
    std::string name;  // fingerprint, or "clone"
    std::string path;
    const Workshop* workshop = nullptr;
};

// One engine of a visit failed; the others are innocent and may be visited again without it.
class VisitorFailed : public std::runtime_error {
public:
    VisitorFailed(size_t index, Failure failure, const std::string& reason)
        : std::runtime_error(reason), index_(index), failure_(failure) {}
    size_t index() const { return index_; }
    Failure failure() const { return failure_; }

private:
    size_t index_;
    Failure failure_;
};

// Seconds of the last visit of its kind: to start, load and warm up one engine, and for one of its blocks.
struct VisitCost {
    double per_engine_s = 0.5;
    double per_block_s = 0.08;
};

// The value of each engine but the first. Rounds that the guards dropped do not count, unless all were dropped: the
// share of dropped rounds then forbids a claim.
std::vector<double> visit_values(const VisitRecord& visit);

struct VisitsOptions {
    bool guards = true;        // false: tests on a virtual clock
    double quiet_wait_s = 30;  // waited at most for a quiet machine, in all
    // Of the machine's profile; without it the guards learn what is usual from the first rounds.
    std::optional<GuardRules> rules;
};

class VisitRunner {
public:
    VisitRunner(VisitsOptions options, Budget& budget, uint64_t seed);

    // Engine 0 is the reference. VisitorFailed when an engine fails.
    VisitRecord run(const std::vector<Visitor>& visitors, const VisitPlan& plan);

    // The warm-up that this engine needs until its times settle, in iterations.
    int64_t measure_warmup(const Visitor& visitor, const Scenario& scenario, double most_seconds);

    // Two measurements at once would disturb each other, and so would a build. Waits a while for the machine; who
    // cannot get it goes on under the guards. Nothing without guards.
    std::optional<MachineLock> lock_machine(std::string_view purpose) const;

    // Seconds that a visit of that many engines under the plan will take.
    double expected_seconds(size_t engines, const VisitPlan& plan) const;
    const VisitCost& cost(Purpose purpose) const { return cost_[selects(purpose)]; }
    int rounds_run() const { return rounds_run_; }
    int rounds_dropped() const { return rounds_dropped_; }
    std::vector<std::string> missing_guards() const { return signals_.missing(); }
    // What the guards let pass by now.
    const GuardRules& rules() const { return rules_; }
    // What they read in all rounds.
    const std::vector<RoundReading>& readings() const { return readings_; }
    // The largest share of a visit's CPU time that the hypervisor took away.
    double most_steal() const { return most_steal_; }

private:
    std::unique_ptr<WorkerClient> start(size_t index, const Visitor& visitor, const Scenario& scenario);
    void wait_for_quiet();
    void fit_guards();
    // Until there are so many the guards drop all that a quiet machine would not show.
    static constexpr size_t rounds_before_fitting = 16;

    VisitsOptions options_;
    Budget& budget_;
    Rng rng_;
    HostSignals signals_;
    double patience_s_;
    Canaries canaries_;
    GuardRules rules_;
    std::vector<RoundReading> readings_;  // of the rounds since the session began
    double most_steal_ = 0;
    VisitCost cost_[2];  // by selects(purpose)
    int rounds_run_ = 0, rounds_dropped_ = 0;
};

}  // namespace headway
