#include "tuner/trials.h"

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "measure/clock.h"

namespace headway {
namespace {

namespace fs = std::filesystem;

constexpr double open_deadline_s = 60;
constexpr double first_build_deadline_s = 600;
// A build may take this many times the longest one that went well, and some seconds at least.
constexpr double build_patience = 10;
constexpr double least_build_deadline_s = 10;
constexpr double check_deadline_s = 120;
constexpr int most_starts = 2;  // of one trial that ended with the tuner

double seconds_since(int64_t begin_ns) { return 1e-9 * static_cast<double>(clock_ns() - begin_ns); }

}  // namespace

// The last one: a default route whose worker died is tried again.
const Trial* Trials::find(const std::string& builder, const std::string& route) const {
    const std::vector<Trial>& trials = session_.study.trials();
    const auto at = std::find_if(trials.rbegin(), trials.rend(),
                                 [&](const Trial& trial) { return trial.builder == builder && trial.route == route; });
    return at == trials.rend() ? nullptr : &*at;
}

double Trials::build_deadline() const {
    if (session_.options.build_deadline_s > 0) return session_.deadline(session_.options.build_deadline_s);
    if (longest_build_s_ == 0) return session_.deadline(first_build_deadline_s);
    return session_.deadline(std::min(std::max(least_build_deadline_s, build_patience * longest_build_s_),
                                      session_.budget.left_for_search() + longest_build_s_));
}

Trials::Built Trials::build(const std::string& builder, const std::string& route) {
    Built built;
    built.path = session_.scratch() + "/new.hwe";
    built.ledger = session_.scratch() + "/new-ledger.json";
    WorkerClient& worker = session_.arm(builder).workshop->builder_worker(session_.deadline(open_deadline_s));
    const std::optional<MachineLock> lock = session_.visits.lock_machine("build");
    const int64_t begin = clock_ns();
    built.engine = worker.build(route, built.path, built.ledger, build_deadline());
    built.seconds = seconds_since(begin);
    longest_build_s_ = std::max(longest_build_s_, built.seconds);
    ++builds_;
    const std::string& print = built.engine.fingerprint;
    if (print.empty() || print.find_first_not_of("0123456789abcdef") != std::string::npos || !fs::exists(built.path))
        throw WorkerError(Failure::failed, "the builder reported success without an engine or a fingerprint");
    return built;
}

void Trials::keep(const Built& built) {
    const std::string& print = built.engine.fingerprint;
    fs::rename(built.path, session_.study.engine_path(print));
    if (fs::exists(built.ledger)) fs::rename(built.ledger, session_.study.ledger_path(print));
}

Trial Trials::run(const std::string& builder, const std::string& route) {
    Study& study = session_.study;
    Trial trial;
    trial.id = static_cast<int>(study.trials().size());
    trial.builder = builder;
    trial.route = route;
    std::string timing_key;
    int64_t bytes = 0;
    if (study.unfinished_starts(builder, route) >= most_starts) {
        trial.outcome = Outcome::crashed;
        trial.reason = "the tuner was killed twice during this trial";
        study.finish_trial(trial, timing_key, bytes);
        return trial;
    }
    study.begin_trial(builder, route);
    try {
        const Built built = build(builder, route);
        trial.seconds = built.seconds;
        trial.fingerprint = built.engine.fingerprint;
        timing_key = built.engine.timing_key;
        bytes = built.engine.bytes;
        const EngineRecord* known = study.find(trial.fingerprint);
        trial.outcome = known == nullptr ? Outcome::built : Outcome::duplicate;
        if (known != nullptr)
            trial.reason = "the same engine as trial " + std::to_string(known->trial);
        else
            keep(built);
    } catch (const WorkerError& error) {
        if (error.failure() == Failure::interrupted) throw;
        trial.outcome = outcome_of(error.failure());
        trial.reason = error.what();
    }
    study.finish_trial(trial, timing_key, bytes);
    if (trial.outcome == Outcome::built) gate(*study.find(trial.fingerprint));
    return study.trials()[static_cast<size_t>(trial.id)];
}

void Trials::finish_gate(const std::string& fingerprint) {
    if (ensure_engine(fingerprint)) gate(*session_.study.find(fingerprint));
}

// Twice in two processes: an engine whose bits change from run to run cannot be judged by one.
void Trials::gate(const EngineRecord& engine) {
    Study& study = session_.study;
    const Workshop& workshop = *session_.arm(engine.builder).workshop;
    const std::string fingerprint = engine.fingerprint, path = study.engine_path(fingerprint);
    const std::string first = session_.scratch() + "/gate-1", second = session_.scratch() + "/gate-2";
    Outcome outcome = Outcome::built;
    Judgement judgement;
    try {
        produce_outputs(workshop, path, session_.tuning, first, session_.deadline(check_deadline_s));
        judgement = judge_outputs(session_.tuning, first, session_.options.gate);
        if (!judgement.passed) outcome = Outcome::wrong;
        if (judgement.passed) {
            produce_outputs(workshop, path, session_.tuning, second, session_.deadline(check_deadline_s));
            if (!same_outputs(first, second)) {
                outcome = Outcome::nondeterministic;
                judgement.reason = "two processes gave different bits";
            }
        }
    } catch (const WorkerError& error) {
        if (error.failure() == Failure::interrupted) throw;
        outcome = outcome_of(error.failure());
        judgement.reason = error.what();
    }
    study.record_gate(fingerprint, outcome, judgement.margin, judgement.reason, judgement.json);
    if (outcome != Outcome::built) delete_engine(fingerprint);
}

bool Trials::ensure_engine(const std::string& fingerprint) {
    const EngineRecord* engine = session_.study.find(fingerprint);
    HEADWAY_CHECK(engine != nullptr);
    if (fs::exists(session_.study.engine_path(fingerprint)) || rebuild(fingerprint, engine->route)) return true;
    session_.study.record_note("route " + engine->route + " did not give its engine when it was built again");
    return false;
}

bool Trials::rebuild(const std::string& fingerprint, const std::string& route) {
    try {
        const Built built = build(session_.study.find(fingerprint)->builder, route);
        if (built.engine.fingerprint != fingerprint) return false;
        keep(built);
        return true;
    } catch (const WorkerError& error) {
        if (error.failure() == Failure::interrupted) throw;
        return false;
    }
}

void Trials::check_repeats(const std::string& builder, const std::string& fingerprint) {
    if (rebuild(fingerprint, "")) return;
    unrepeatable_.insert(builder);
    session_.study.record_note("builder " + builder +
                               " gave two engines for one route; equal engines are not taken as a sign that a knob "
                               "changes nothing");
}

void Trials::delete_engine(const std::string& fingerprint) {
    std::error_code ignored;
    fs::remove(session_.study.engine_path(fingerprint), ignored);
}

}  // namespace headway
