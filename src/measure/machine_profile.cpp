#include "measure/machine_profile.h"

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "measure/confirm.h"
#include "measure/machine_facts.h"
#include "measure/statistics.h"

namespace headway {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* format_name = "headway-machine-profile";
constexpr int format_version = 1;

// ln(time of the second block / time of the first), mean of a visit's rounds.
double position_of(const ControlVisit& visit) {
    std::vector<double> logs;
    for (size_t round = 0; round < visit.rounds.size(); ++round) {
        const RoundOrder& order = visit.orders[round];
        const auto time = [&](size_t position) {
            return static_cast<double>(visit.rounds[round][static_cast<size_t>(order[position])]);
        };
        logs.push_back(std::log(time(1) / time(0)));
    }
    return mean(logs);
}

void canary_range(std::span<const RoundReading> readings, double RoundReading::*field, double (&range)[3]) {
    std::vector<double> values;
    for (const RoundReading& reading : readings) values.push_back(reading.*field);
    if (values.empty()) return;
    constexpr double points[3] = {0.05, 0.5, 0.95};
    for (int k = 0; k < 3; ++k) range[k] = quantile(values, points[k]);
}

Json range_json(const double (&range)[3]) { return {{"p5", range[0]}, {"p50", range[1]}, {"p95", range[2]}}; }

void read_range(const nlohmann::json& json, double (&range)[3]) {
    range[0] = json.at("p5").get<double>();
    range[1] = json.at("p50").get<double>();
    range[2] = json.at("p95").get<double>();
}

std::string machine_key(int threads) {
    const MachineFacts facts = read_machine_facts();
    return Hasher()
        .add(facts.cpu)
        .add(facts.cpus)
        .add(facts.kernel)
        .add(facts.memory_bytes)
        .add(threads)
        .finish()
        .hex();
}

}  // namespace

int MachineProfile::best_rounds() const { return headway::best_rounds(components, 2 * load_s, 2 * block_s); }

double MachineProfile::resolution(int visits) const {
    const double per_visit =
        components.process_sd * components.process_sd + components.round_sd * components.round_sd / best_rounds();
    const ConfirmRules rules;
    double level = 0;
    for (const Look& look : rules.looks)
        if (look.visits <= visits) level = rules.alpha * rules.weights.front() * look.share;
    return headway::resolution(std::sqrt(per_visit), visits, level > 0 ? level : rules.alpha);
}

MachineProfile profile_of(std::span<const ControlVisit> visits, std::span<const RoundReading> readings) {
    HEADWAY_CHECK(visits.size() >= 2);
    MachineProfile profile;
    std::vector<std::vector<double>> ratios;
    std::vector<double> values, positions, lags;
    for (const ControlVisit& visit : visits) {
        HEADWAY_CHECK(visit.rounds.size() >= 2 && visit.orders.size() == visit.rounds.size());
        ratios.push_back(paired_log_ratios(visit.rounds, 1));
        values.push_back(visit_value(visit.rounds, 1));
        positions.push_back(position_of(visit));
        if (ratios.back().size() > 2) lags.push_back(lag1_correlation(ratios.back()));
    }
    profile.visits = static_cast<int>(visits.size());
    profile.rounds = static_cast<int>(visits.front().rounds.size());
    profile.components = variance_components(ratios);
    if (!lags.empty()) profile.lag1 = mean(lags);
    profile.control_mean = mean(values);
    profile.control_p = sign_flip_p(values, Tail::both);
    profile.position_effect = mean(positions);
    profile.position_p = sign_flip_p(positions, Tail::both);
    profile.rules = fitted_rules(readings);
    canary_range(readings, &RoundReading::clock_ghz, profile.clock_ghz);
    canary_range(readings, &RoundReading::memory_gb_per_s, profile.memory_gb_per_s);
    return profile;
}

std::string profile_json(const MachineProfile& profile) {
    Json resolutions = Json::array();
    for (const int visits : resolution_visits)
        resolutions.push_back({{"visits", visits}, {"gain", profile.resolution(visits)}});
    const GuardRules& rules = profile.rules;
    const Json json{
        {"format", format_name},
        {"version", format_version},
        {"machine", Json::parse(machine_json(read_machine_facts()))},
        {"subject", profile.subject},
        {"iteration_ms", profile.iteration_ms},
        {"threads", profile.threads},
        {"visits", profile.visits},
        {"rounds", profile.rounds},
        {"components", {{"round_sd", profile.components.round_sd}, {"process_sd", profile.components.process_sd}}},
        {"lag1", profile.lag1},
        {"control", {{"mean", profile.control_mean}, {"p", profile.control_p}}},
        {"position", {{"effect", profile.position_effect}, {"p", profile.position_p}}},
        {"cost", {{"load_s", profile.load_s}, {"block_s", profile.block_s}}},
        {"best_rounds", profile.best_rounds()},
        {"resolution", resolutions},
        {"clock_ghz", range_json(profile.clock_ghz)},
        {"memory_gb_per_s", range_json(profile.memory_gb_per_s)},
        {"guards",
         {{"run_delay", rules.most_run_delay},
          {"lost", rules.most_lost},
          {"clock_change", rules.most_clock_change},
          {"memory_change", rules.most_memory_change},
          {"steal", rules.most_steal},
          {"missing", profile.missing_guards}}},
        {"builder_repeats", profile.builder_repeats ? Json(*profile.builder_repeats) : Json()}};
    return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

MachineProfile profile_from_json(const std::string& text) {
    MachineProfile profile;
    try {
        const nlohmann::json json = read_json(text);
        if (json.at("format") != format_name || json.at("version") != format_version)
            throw UserError("not a machine profile of version " + std::to_string(format_version));
        profile.subject = json.at("subject").get<std::string>();
        profile.iteration_ms = json.at("iteration_ms").get<double>();
        profile.threads = whole<int>(json.at("threads"));
        profile.visits = whole<int>(json.at("visits"));
        profile.rounds = whole<int>(json.at("rounds"));
        profile.components = {json.at("components").at("round_sd").get<double>(),
                              json.at("components").at("process_sd").get<double>()};
        profile.lag1 = json.at("lag1").get<double>();
        profile.control_mean = json.at("control").at("mean").get<double>();
        profile.control_p = json.at("control").at("p").get<double>();
        profile.position_effect = json.at("position").at("effect").get<double>();
        profile.position_p = json.at("position").at("p").get<double>();
        profile.load_s = json.at("cost").at("load_s").get<double>();
        profile.block_s = json.at("cost").at("block_s").get<double>();
        read_range(json.at("clock_ghz"), profile.clock_ghz);
        read_range(json.at("memory_gb_per_s"), profile.memory_gb_per_s);
        const auto& guards = json.at("guards");
        profile.rules = {guards.at("run_delay").get<double>(), guards.at("lost").get<double>(),
                         guards.at("clock_change").get<double>(), guards.at("memory_change").get<double>(),
                         guards.at("steal").get<double>()};
        profile.missing_guards = guards.at("missing").get<std::vector<std::string>>();
        if (const auto& repeats = json.at("builder_repeats"); !repeats.is_null())
            profile.builder_repeats = repeats.get<bool>();
    } catch (const nlohmann::json::exception& error) {
        throw UserError(std::string("a damaged machine profile: ") + error.what());
    }
    const Components& parts = profile.components;
    if (!(parts.round_sd >= 0 && parts.process_sd >= 0 && profile.load_s >= 0 && profile.block_s > 0))
        throw UserError("a damaged machine profile: negative spreads or costs");
    return profile;
}

std::string profile_path(int threads) {
    const char* cache = std::getenv("XDG_CACHE_HOME");
    const char* home = std::getenv("HOME");
    const std::string base = cache != nullptr && *cache != 0 ? cache
                             : home != nullptr && *home != 0 ? std::string(home) + "/.cache"
                                                             : "";
    return base.empty() ? "" : base + "/headway/machine-" + machine_key(threads).substr(0, 16) + ".json";
}

std::optional<MachineProfile> load_profile(int threads) {
    const std::string path = profile_path(threads);
    if (path.empty() || !std::filesystem::is_regular_file(path)) return std::nullopt;
    try {
        return profile_from_json(read_file(path));
    } catch (const UserError&) {
        return std::nullopt;
    }
}

bool store_profile(const MachineProfile& profile) {
    const std::string path = profile_path(profile.threads);
    if (path.empty()) return false;
    try {
        std::error_code failed;
        std::filesystem::create_directories(std::filesystem::path(path).parent_path(), failed);
        write_file_atomically(path, profile_json(profile));
        return true;
    } catch (const UserError&) {
        return false;
    }
}

}  // namespace headway
