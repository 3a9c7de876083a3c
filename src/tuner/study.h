// A study: one tuning run and all its trials. What happened is appended to the log first and then applied to this
// state, so a study that was killed is rebuilt from its log and goes on where it stopped.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "measure/guards.h"
#include "search/strategy.h"
#include "tuner/log.h"
#include "workers/protocol.h"

namespace headway {

inline constexpr int study_version = 1;

// What became of a route. `built` is the only one that can win; `duplicate` is an engine that another route gave first.
enum class Outcome {
    built,
    duplicate,
    refused,
    unsupported,
    failed,
    crashed,
    timeout,
    out_of_memory,
    wrong,             // fails the gate
    nondeterministic,  // two processes gave different bits
};
std::string_view to_string(Outcome outcome);
Outcome outcome_from_string(std::string_view word);
// How a worker's failure is booked.
Outcome outcome_of(Failure failure);

struct Trial {
    int id = 0;
    std::string builder;
    std::string route;  // canonical
    Outcome outcome = Outcome::failed;
    std::string reason;       // why it cannot win
    std::string fingerprint;  // "" when nothing was built
    double seconds = 0;
};

// One distinct engine: everything known about a fingerprint.
struct EngineRecord {
    std::string fingerprint, timing_key, builder;
    std::string route;  // of its trial, or what pruning left of it
    int trial = 0;      // that gave it first
    int64_t bytes = 0;
    Outcome gate = Outcome::built;  // built = not gated yet or passed
    bool passed = false;
    double accuracy_margin = 0;    // share of the tolerance left on the tuning data
    std::string gate_json = "{}";  // metrics per output
    std::vector<double> screen;    // log speed-ups of selection visits over all sessions
    std::vector<SiteTime> sites;   // step times beside the reference's; empty = not profiled
};

// What a visit was for. Only confirm and report visits may support a claim.
enum class Purpose { control, screen, race, confirm, report };
std::string_view to_string(Purpose purpose);
constexpr bool selects(Purpose purpose) { return purpose == Purpose::screen || purpose == Purpose::race; }

struct VisitRecord {
    Purpose purpose = Purpose::screen;
    std::vector<std::string> engines;          // fingerprints, the reference first; "clone" is the reference's copy
    std::vector<double> values;                // log speed-up over the reference of each engine but the first
    std::vector<std::vector<int64_t>> rounds;  // block times in ns, by round and engine, dropped rounds too
    std::vector<std::string> drops;            // per round: why it was dropped, "" = it counts
    std::vector<RoundOrder> orders;            // per round: engines in the order of their blocks
    std::vector<RoundReading> readings;        // per round: of the guards; empty without guards
    int64_t iterations = 0;                    // per block
    int dropped() const;                       // rounds
};

// A confirm test as it was planned.
struct ConfirmRecord {
    std::vector<std::string> finalists;
    double alpha = 0, margin = 0;
    int affordable = 0;
    uint64_t seed = 0;
    size_t first_visit = 0;  // its visits are the confirm visits from here on
};

// The facts that must be the same when a study goes on: another model or another tolerance is another study.
struct StudyHeader {
    std::string model_hash, space_hash, gate_hash, data_hash, target;
    std::vector<std::string> builders;  // "name version"
    int threads = 0;
    std::string scenario = "latency";
};

class Study {
public:
    // Opens or creates. Reads the log only; see check_header.
    explicit Study(const std::string& folder);

    // Reads a study for reports, without a lock.
    static Study read(const std::string& folder);

    const std::string& folder() const { return folder_; }
    bool is_new() const { return !has_header_; }
    const StudyHeader& header() const { return header_; }
    // Writes the header of a new study; UserError naming the first difference when the study has another one.
    void check_header(const StudyHeader& header);

    // The knobs of a builder when the study was made.
    const std::vector<KnobDescription>& knobs(const std::string& builder) const;
    const std::vector<Trial>& trials() const { return trials_; }
    const std::map<std::string, EngineRecord>& engines() const { return engines_; }
    const EngineRecord* find(const std::string& fingerprint) const;
    const std::vector<VisitRecord>& visits() const { return visits_; }
    int sessions() const { return sessions_; }
    const std::vector<ConfirmRecord>& confirms() const { return confirms_; }
    int heldout_attempts() const { return heldout_attempts_; }
    // Times that a trial of this route was begun and never finished: the tuner was killed meanwhile.
    int unfinished_starts(const std::string& builder, const std::string& route) const;
    const std::vector<std::string>& notes() const { return notes_; }
    const std::string& result_json() const { return result_json_; }

    std::string engine_path(const std::string& fingerprint) const;
    std::string ledger_path(const std::string& fingerprint) const;

    void record_knobs(const std::string& builder, const std::vector<KnobDescription>& knobs);
    void start_session(double budget_s);
    void begin_trial(const std::string& builder, const std::string& route);
    void finish_trial(const Trial& trial, const std::string& timing_key, int64_t bytes);
    void record_gate(const std::string& fingerprint, Outcome outcome, double margin, const std::string& reason,
                     const std::string& gate_json);
    void record_sites(const std::string& fingerprint, const std::vector<SiteTime>& sites);
    void record_visit(const VisitRecord& visit);
    void start_confirm(const ConfirmRecord& confirm);
    // Before the held-out data are read, so that an attempt counts whatever happens then.
    void start_heldout(const std::string& fingerprint);
    void record_heldout(const std::string& fingerprint, bool passed, const std::string& gate_json);
    // The engine's route without settings that change nothing; its trial keeps the route it was found with.
    void record_pruned(const std::string& fingerprint, const std::string& route);
    void record_note(const std::string& text);
    void record_result(const std::string& json);

private:
    Study() = default;
    void record(const nlohmann::json& event);
    void replay(const std::vector<std::string>& lines);
    void apply(const nlohmann::json& event);
    void apply_trial(const nlohmann::json& event);
    void apply_gate(const nlohmann::json& event);
    void apply_visit(const nlohmann::json& event);

    std::string folder_;
    std::unique_ptr<StudyLog> log_;
    bool has_header_ = false;
    StudyHeader header_;
    std::map<std::string, std::vector<KnobDescription>> knobs_;
    std::vector<std::string> notes_;
    std::vector<Trial> trials_;
    std::map<std::string, EngineRecord> engines_;
    std::vector<VisitRecord> visits_;
    std::map<std::pair<std::string, std::string>, int> begun_;
    std::vector<ConfirmRecord> confirms_;
    int sessions_ = 0, heldout_attempts_ = 0;
    std::string result_json_;
};

}  // namespace headway
