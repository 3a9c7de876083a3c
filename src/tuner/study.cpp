#include "tuner/study.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"

namespace headway {

void to_json(nlohmann::json& json, const StudyHeader& header) {
    json = {{"model_hash", header.model_hash}, {"space_hash", header.space_hash}, {"gate_hash", header.gate_hash},
            {"data_hash", header.data_hash},   {"target", header.target},         {"builders", header.builders},
            {"threads", header.threads},       {"scenario", header.scenario}};
}
void from_json(const nlohmann::json& json, StudyHeader& header) {
    json.at("model_hash").get_to(header.model_hash);
    json.at("space_hash").get_to(header.space_hash);
    json.at("gate_hash").get_to(header.gate_hash);
    json.at("data_hash").get_to(header.data_hash);
    json.at("target").get_to(header.target);
    json.at("builders").get_to(header.builders);
    header.threads = whole<int>(json.at("threads"));
    json.at("scenario").get_to(header.scenario);
}

// A row of numbers: studies hold thousands of them.
void to_json(nlohmann::json& json, const RoundReading& reading) {
    json = {reading.run_delay,       reading.lost,         reading.clock_ghz,
            reading.memory_gb_per_s, reading.clock_change, reading.memory_change};
}
void from_json(const nlohmann::json& json, RoundReading& reading) {
    reading = {json.at(0).get<double>(), json.at(1).get<double>(), json.at(2).get<double>(),
               json.at(3).get<double>(), json.at(4).get<double>(), json.at(5).get<double>()};
}

namespace {

using Json = nlohmann::json;

constexpr std::array<std::pair<Outcome, std::string_view>, 10> outcome_names{{
    {Outcome::built, "built"},
    {Outcome::duplicate, "duplicate"},
    {Outcome::refused, "refused"},
    {Outcome::unsupported, "unsupported"},
    {Outcome::failed, "failed"},
    {Outcome::crashed, "crashed"},
    {Outcome::timeout, "timeout"},
    {Outcome::out_of_memory, "out-of-memory"},
    {Outcome::wrong, "wrong"},
    {Outcome::nondeterministic, "non-deterministic"},
}};

constexpr std::array<std::pair<Purpose, std::string_view>, 5> purpose_names{{
    {Purpose::control, "control"},
    {Purpose::screen, "screen"},
    {Purpose::race, "race"},
    {Purpose::confirm, "confirm"},
    {Purpose::report, "report"},
}};

template <class T>
std::vector<std::vector<T>> table_of(const Json& rows) {
    std::vector<std::vector<T>> table;
    for (const Json& row : rows) {
        table.emplace_back();
        for (const Json& value : row) table.back().push_back(whole<T>(value));
    }
    return table;
}

uint64_t seed_of(const Json& event) {
    const Json& seed = event.at("seed");
    if (!seed.is_number_unsigned()) throw UserError("a seed that is no whole number");
    return seed.get<uint64_t>();
}

Purpose purpose_from_string(std::string_view word) {
    for (const auto& [value, name] : purpose_names)
        if (name == word) return value;
    throw UserError("unknown purpose '" + escaped(word) + "'");
}

// Fingerprints come from the log, and files are written, read and removed under their names.
const std::string& file_name(const std::string& fingerprint) {
    if (fingerprint.find('/') != std::string::npos || fingerprint.find('\0') != std::string::npos)
        throw UserError("'" + escaped(fingerprint) + "' is not a fingerprint");
    return fingerprint;
}

}  // namespace

std::string_view to_string(Outcome outcome) {
    for (const auto& [value, name] : outcome_names)
        if (value == outcome) return name;
    return "failed";
}

Outcome outcome_from_string(std::string_view word) {
    for (const auto& [value, name] : outcome_names)
        if (name == word) return value;
    return Outcome::failed;
}

Outcome outcome_of(Failure failure) {
    switch (failure) {
        case Failure::refused:
            return Outcome::refused;
        case Failure::unsupported:
            return Outcome::unsupported;
        case Failure::crashed:
            return Outcome::crashed;
        case Failure::timeout:
            return Outcome::timeout;
        case Failure::out_of_memory:
            return Outcome::out_of_memory;
        case Failure::failed:
        case Failure::interrupted:
            break;
    }
    return Outcome::failed;
}

std::string_view to_string(Purpose purpose) {
    for (const auto& [value, name] : purpose_names)
        if (value == purpose) return name;
    return "screen";
}

int VisitRecord::dropped() const {
    return static_cast<int>(
        std::count_if(drops.begin(), drops.end(), [](const std::string& why) { return !why.empty(); }));
}

Study::Study(const std::string& folder) : folder_(folder), log_(std::make_unique<StudyLog>(folder)) {
    replay(log_->lines());
}

Study Study::read(const std::string& folder) {
    Study study;
    study.folder_ = folder;
    study.replay(StudyLog::read(folder));
    return study;
}

void Study::replay(const std::vector<std::string>& lines) {
    for (size_t number = 0; number < lines.size(); ++number) {
        try {
            apply(read_json(lines[number]));
        } catch (const std::exception& error) {
            throw UserError(folder_ + "/log.jsonl: line " + std::to_string(number + 1) +
                            " is damaged: " + error.what());
        }
    }
}

void Study::record(const Json& event) {
    HEADWAY_CHECK(log_ != nullptr);
    log_->append(event);
    apply(event);
}

void Study::check_header(const StudyHeader& header) {
    if (is_new()) {
        Json event = header;
        event["event"] = "header";
        event["format"] = "headway-study";
        event["version"] = study_version;
        return record(event);
    }
    const Json ours = header, theirs = header_;
    for (const auto& [field, value] : ours.items())
        if (theirs.at(field) != value)
            throw UserError("the study " + folder_ + " was made with another " + split(field, '_').front() + " (" +
                            theirs.at(field).dump() + ", now " + value.dump() + "); give another --study");
}

const EngineRecord* Study::find(const std::string& fingerprint) const {
    const auto at = engines_.find(fingerprint);
    return at == engines_.end() ? nullptr : &at->second;
}

int Study::unfinished_starts(const std::string& builder, const std::string& route) const {
    const auto at = begun_.find({builder, route});
    return at == begun_.end() ? 0 : at->second;
}

std::string Study::engine_path(const std::string& fingerprint) const {
    return folder_ + "/engines/" + file_name(fingerprint) + ".hwe";
}
std::string Study::ledger_path(const std::string& fingerprint) const {
    return folder_ + "/ledgers/" + file_name(fingerprint) + ".json";
}

const std::vector<KnobDescription>& Study::knobs(const std::string& builder) const {
    static const std::vector<KnobDescription> none;
    const auto at = knobs_.find(builder);
    return at == knobs_.end() ? none : at->second;
}

void Study::record_knobs(const std::string& builder, const std::vector<KnobDescription>& knobs) {
    record({{"event", "knobs"}, {"builder", builder}, {"knobs", knobs}});
}

void Study::start_session(double budget_s) { record({{"event", "session"}, {"budget_s", budget_s}}); }

void Study::begin_trial(const std::string& builder, const std::string& route) {
    record({{"event", "begin"}, {"builder", builder}, {"route", route}});
}

void Study::finish_trial(const Trial& trial, const std::string& timing_key, int64_t bytes) {
    record({{"event", "trial"},
            {"id", trial.id},
            {"builder", trial.builder},
            {"route", trial.route},
            {"outcome", to_string(trial.outcome)},
            {"reason", trial.reason},
            {"fingerprint", trial.fingerprint},
            {"timing_key", timing_key},
            {"bytes", bytes},
            {"seconds", trial.seconds}});
}

void Study::record_gate(const std::string& fingerprint, Outcome outcome, double margin, const std::string& reason,
                        const std::string& gate_json) {
    record({{"event", "gate"},
            {"fingerprint", fingerprint},
            {"outcome", to_string(outcome)},
            {"margin", margin},
            {"reason", reason},
            {"gate", Json::parse(gate_json)}});
}

// Whole nanoseconds: a large model has hundreds of sites.
void Study::record_sites(const std::string& fingerprint, const std::vector<SiteTime>& sites) {
    Json list = Json::array();
    for (const SiteTime& site : sites)
        list.push_back({site.site, static_cast<int64_t>(site.start_ns), static_cast<int64_t>(site.ns)});
    record({{"event", "sites"}, {"fingerprint", fingerprint}, {"sites", list}});
}

void Study::record_visit(const VisitRecord& visit) {
    record({{"event", "visit"},
            {"purpose", to_string(visit.purpose)},
            {"engines", visit.engines},
            {"values", visit.values},
            {"rounds", visit.rounds},
            {"iterations", visit.iterations},
            {"drops", visit.drops},
            {"orders", visit.orders},
            {"readings", visit.readings}});
}

void Study::start_confirm(const ConfirmRecord& confirm) {
    record({{"event", "confirm"},
            {"finalists", confirm.finalists},
            {"alpha", confirm.alpha},
            {"margin", confirm.margin},
            {"affordable", confirm.affordable},
            {"seed", confirm.seed}});
}

void Study::start_heldout(const std::string& fingerprint) {
    record({{"event", "heldout-begin"}, {"fingerprint", fingerprint}});
}

void Study::record_heldout(const std::string& fingerprint, bool passed, const std::string& gate_json) {
    record({{"event", "heldout"}, {"fingerprint", fingerprint}, {"passed", passed}, {"gate", Json::parse(gate_json)}});
}

void Study::record_pruned(const std::string& fingerprint, const std::string& route) {
    record({{"event", "pruned"}, {"fingerprint", fingerprint}, {"route", route}});
}

void Study::record_note(const std::string& text) { record({{"event", "note"}, {"text", text}}); }

void Study::record_result(const std::string& json) { record({{"event", "result"}, {"result", Json::parse(json)}}); }

void Study::apply(const Json& event) {
    const std::string kind = event.at("event").get<std::string>();
    if (kind == "header") {
        if (event.at("version") != study_version) throw UserError("study version " + event.at("version").dump());
        Json header = event;
        header.emplace("scenario", "latency");  // studies from before there was another one
        header_ = header.get<StudyHeader>();
        has_header_ = true;
    } else if (kind == "session") {
        ++sessions_;
    } else if (kind == "begin") {
        ++begun_[{event.at("builder").get<std::string>(), event.at("route").get<std::string>()}];
    } else if (kind == "trial") {
        apply_trial(event);
    } else if (kind == "gate") {
        apply_gate(event);
    } else if (kind == "visit") {
        apply_visit(event);
    } else if (kind == "sites") {
        for (const Json& site : event.at("sites"))
            engines_.at(event.at("fingerprint").get<std::string>())
                .sites.push_back({site.at(0).get<std::string>(), site.at(1).get<double>(), site.at(2).get<double>()});
    } else if (kind == "confirm") {
        confirms_.push_back({event.at("finalists").get<std::vector<std::string>>(), event.at("alpha").get<double>(),
                             event.at("margin").get<double>(), whole<int>(event.at("affordable")), seed_of(event),
                             visits_.size()});
    } else if (kind == "pruned") {
        engines_.at(event.at("fingerprint").get<std::string>()).route = event.at("route").get<std::string>();
    } else if (kind == "heldout-begin") {
        ++heldout_attempts_;
    } else if (kind == "result") {
        result_json_ = event.at("result").dump();
    } else if (kind == "knobs") {
        knobs_[event.at("builder").get<std::string>()] = event.at("knobs").get<std::vector<KnobDescription>>();
    } else if (kind == "note") {
        notes_.push_back(event.at("text").get<std::string>());
    } else if (kind != "heldout") {
        throw UserError("unknown event '" + escaped(kind) + "'");
    }
}

void Study::apply_trial(const Json& event) {
    Trial trial;
    trial.id = whole<int>(event.at("id"));
    trial.builder = event.at("builder").get<std::string>();
    trial.route = event.at("route").get<std::string>();
    trial.outcome = outcome_from_string(event.at("outcome").get<std::string>());
    trial.reason = event.at("reason").get<std::string>();
    trial.fingerprint = event.at("fingerprint").get<std::string>();
    trial.seconds = event.at("seconds").get<double>();
    begun_.erase({trial.builder, trial.route});
    if (trial.outcome == Outcome::built) {
        EngineRecord engine;
        engine.fingerprint = trial.fingerprint;
        engine.timing_key = event.at("timing_key").get<std::string>();
        engine.builder = trial.builder;
        engine.route = trial.route;
        engine.trial = trial.id;
        engine.bytes = whole<int64_t>(event.at("bytes"));
        engines_[trial.fingerprint] = engine;
    }
    trials_.push_back(std::move(trial));
}

void Study::apply_gate(const Json& event) {
    EngineRecord& engine = engines_.at(event.at("fingerprint").get<std::string>());
    const Outcome outcome = outcome_from_string(event.at("outcome").get<std::string>());
    engine.gate = outcome;
    engine.passed = outcome == Outcome::built;
    engine.accuracy_margin = event.at("margin").get<double>();
    engine.gate_json = event.at("gate").dump();
    for (Trial& trial : trials_) {
        if (trial.fingerprint != engine.fingerprint) continue;
        if (!engine.passed) {
            trial.outcome = outcome;
            trial.reason = event.at("reason").get<std::string>();
        } else if (trial.id == engine.trial) {
            trial.outcome = Outcome::built;  // gated again after its worker had died
            trial.reason.clear();
        }
    }
}

void Study::apply_visit(const Json& event) {
    VisitRecord visit;
    visit.purpose = purpose_from_string(event.at("purpose").get<std::string>());
    visit.engines = event.at("engines").get<std::vector<std::string>>();
    visit.values = event.at("values").get<std::vector<double>>();
    visit.rounds = table_of<int64_t>(event.at("rounds"));
    visit.iterations = whole<int64_t>(event.at("iterations"));
    visit.drops = event.at("drops").get<std::vector<std::string>>();
    if (event.contains("orders")) visit.orders = table_of<int>(event.at("orders"));
    visit.readings = event.value("readings", visit.readings);
    if (visit.engines.size() != visit.values.size() + 1 || visit.rounds.size() != visit.drops.size())
        throw UserError("a visit whose parts do not fit");
    for (size_t i = 1; selects(visit.purpose) && i < visit.engines.size(); ++i) {
        const auto engine = engines_.find(visit.engines[i]);
        if (engine != engines_.end()) engine->second.screen.push_back(visit.values[i - 1]);
    }
    visits_.push_back(std::move(visit));
}

}  // namespace headway
