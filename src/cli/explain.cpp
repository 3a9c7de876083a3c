// headway explain: what was decided at each site of an engine, what else was considered there, and why not.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/options.h"
#include "runtime/engine_file.h"
#include "measure/statistics.h"
#include "tuner/route_text.h"
#include "tuner/study.h"
#include "workers/foreign/recipe.h"

namespace headway {
namespace {

using Json = nlohmann::ordered_json;

struct Options {
    std::string subject, site, why_not;
    bool json = false;
};

struct Entry {
    std::string where, site, candidate, reason, detail;
    bool taken = false;
    double predicted_us = 0;
};

struct Subject {
    std::string route, ledger;  // JSON text of the ledger
};

// The engine of a study: the delivered one.
Subject of_study(const std::string& folder) {
    const Study study = Study::read(folder);
    if (study.result_json().empty()) throw UserError("the study " + folder + " has no result yet");
    const Json result = Json::parse(study.result_json());
    const std::string fingerprint = result.at("evidence").at("fingerprint").get<std::string>();
    return {result.at("route").get<std::string>(), read_file(study.ledger_path(fingerprint))};
}

Subject read_subject(const std::string& path) {
    if (std::filesystem::is_directory(path)) return of_study(path);
    if (const std::optional<std::string> builder = recipe_builder(path))
        throw UserError(path + " is a recipe for " + *builder + ", which keeps no ledger in it: explain its study");
    const EngineFile file = read_engine_file(path);
    return {file.info.route, file.info.ledger};
}

Json parse_ledger(const std::string& text, const std::string& path) {
    try {
        return read_json(text);
    } catch (const UserError& error) {
        throw UserError(path + ": the ledger is damaged: " + error.what());
    }
}

std::vector<Entry> read_ledger(const Json& list, const std::string& path) {
    if (!list.is_array()) throw UserError(path + ": the ledger is damaged");
    std::vector<Entry> entries;
    try {
        for (const Json& item : list)
            entries.push_back({item.value("where", ""), item.value("site", ""), item.value("candidate", ""),
                               item.value("reason", ""), item.value("detail", ""), item.value("taken", false),
                               item.value("predicted_us", 0.0)});
    } catch (const Json::exception&) {
        throw UserError(path + ": the ledger is damaged");
    }
    return entries;
}

// Entries of the sites that the name or glob means, and of candidates that hold `why_not`.
std::vector<Entry> select(const std::vector<Entry>& entries, const Options& options) {
    std::vector<std::string> sites, candidates;
    std::vector<Entry> selected;
    for (const Entry& entry : entries) {
        sites.push_back(entry.site);
        if (!options.site.empty() && !glob_match(options.site, entry.site)) continue;
        candidates.push_back(entry.candidate);
        if (options.why_not.empty() || entry.candidate.find(options.why_not) != std::string::npos)
            selected.push_back(entry);
    }
    if (!selected.empty() || entries.empty()) return selected;
    if (candidates.empty()) {
        const std::string nearest = nearest_name(options.site, sites);
        throw UserError("no site '" + escaped(options.site) + "'" +
                        (nearest.empty() ? "" : "; did you mean '" + escaped(nearest) + "'?"));
    }
    std::sort(candidates.begin(), candidates.end());
    candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
    throw UserError("missing: no candidate '" + escaped(options.why_not) +
                    "' was considered there; there were: " + escaped(join(candidates, ", ")));
}

void print_entries(const std::vector<Entry>& entries) {
    std::string site;
    for (const Entry& entry : entries) {
        if (entry.site != site) std::cout << escaped(entry.site.empty() ? std::string("(graph)") : entry.site) << "\n";
        site = entry.site;
        std::cout << fmt::format("  {} {}", entry.taken ? "taken  " : "refused", escaped(entry.candidate));
        if (entry.predicted_us > 0) std::cout << fmt::format("  {:.1f} us predicted", entry.predicted_us);
        if (!entry.reason.empty())
            std::cout << "  " << escaped(entry.reason) << (entry.detail.empty() ? "" : ": " + escaped(entry.detail));
        std::cout << "  [" << escaped(entry.where) << "]\n";
    }
}

// A setting, as conv.algorithm=winograd4: what the study's trials with it came to.
int explain_setting(const Options& options) {
    const Study study = Study::read(options.subject);
    Json list = Json::array();
    for (const Trial& trial : study.trials()) {
        const auto settings = route_settings(trial.route);
        const bool has = std::any_of(settings.begin(), settings.end(), [&](const auto& setting) {
            return setting.first + "=" + setting.second == options.why_not;
        });
        if (!has) continue;
        Json entry{{"trial", trial.id},
                   {"route", trial.route},
                   {"outcome", to_string(trial.outcome)},
                   {"reason", trial.reason}};
        const EngineRecord* engine = study.find(trial.fingerprint);
        if (engine != nullptr && !engine->screen.empty())
            entry["selection_estimate_biased"] = std::exp(mean(engine->screen));
        list.push_back(std::move(entry));
    }
    if (options.json) {
        std::cout << list.dump(1, ' ', false, Json::error_handler_t::replace) << "\n";
        return exit_yes;
    }
    if (list.empty()) std::cout << "missing: no trial has the setting " << escaped(options.why_not) << "\n";
    for (const Json& entry : list) {
        std::cout << fmt::format("trial {}  {}", whole<int>(entry["trial"]), entry["outcome"].get<std::string>());
        if (entry.contains("selection_estimate_biased"))
            std::cout << fmt::format("  {:.3f}x the default (selection estimate, biased)",
                                     entry["selection_estimate_biased"].get<double>());
        const std::string reason = entry["reason"].get<std::string>();
        std::cout << (reason.empty() ? "" : "  " + escaped(reason)) << "\n  "
                  << escaped(entry["route"].get<std::string>()) << "\n";
    }
    return exit_yes;
}

int explain(const Options& options) {
    if (options.why_not.find('=') != std::string::npos && std::filesystem::is_directory(options.subject))
        return explain_setting(options);
    const Subject subject = read_subject(options.subject);
    const Json ledger = parse_ledger(subject.ledger, options.subject);
    // Builders of other runtimes tell what their runtime told them, in a form of their own.
    if (ledger.is_object()) {
        std::cout << ledger.dump(options.json ? -1 : 1, ' ', false, Json::error_handler_t::replace) << "\n";
        return exit_yes;
    }
    const std::vector<Entry> entries = select(read_ledger(ledger, options.subject), options);
    if (!options.json) {
        std::cout << "route " << (subject.route.empty() ? std::string("(default)") : escaped(subject.route)) << "\n";
        print_entries(entries);
        return exit_yes;
    }
    Json list = Json::array();
    for (const Entry& entry : entries)
        list.push_back({{"where", entry.where},
                        {"site", entry.site},
                        {"candidate", entry.candidate},
                        {"taken", entry.taken},
                        {"reason", entry.reason},
                        {"detail", entry.detail},
                        {"predicted_us", entry.predicted_us}});
    std::cout << Json{{"route", subject.route}, {"decisions", list}}.dump(1, ' ', false, Json::error_handler_t::replace)
              << "\n";
    return exit_yes;
}

const Command explain_command{
    "explain", "Say what was decided at each site, and why not otherwise", [](CLI::App& app) -> Command::Action {
        auto options = std::make_shared<Options>();
        app.add_option("subject", options->subject, "A study folder or an engine file")
            ->required()
            ->type_name("STUDY|E.hwe");
        app.add_option("site", options->site, "A node name, or a glob over them")->type_name("SITE");
        app.add_option("--why-not", options->why_not,
                       "Only candidates whose name holds this; KNOB=VALUE: trials of the study that have it")
            ->type_name("VALUE");
        add_json_option(app, options->json);
        return [options] { return explain(*options); };
    }};

}  // namespace
}  // namespace headway
