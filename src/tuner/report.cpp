#include "tuner/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "measure/statistics.h"
#include "tuner/knob_evidence.h"
#include "tuner/markdown.h"
#include "tuner/route_text.h"

namespace headway {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t listed_engines = 10;

struct Ranked {
    const EngineRecord* engine;
    double estimate;  // log speed-up of selection visits
};

std::vector<Ranked> ranked_engines(const Study& study) {
    std::vector<Ranked> ranked;
    for (const auto& [fingerprint, engine] : study.engines())
        if (engine.passed && !engine.screen.empty()) ranked.push_back({&engine, mean(engine.screen)});
    std::stable_sort(ranked.begin(), ranked.end(),
                     [](const Ranked& a, const Ranked& b) { return a.estimate > b.estimate; });
    return ranked;
}

std::map<std::string, int> outcome_counts(const Study& study) {
    std::map<std::string, int> counts;
    for (const Trial& trial : study.trials()) ++counts[std::string(to_string(trial.outcome))];
    return counts;
}

// Reasons of all trials that gave no acceptable engine: outcome and reason -> how often.
std::map<std::pair<std::string, std::string>, int> failure_reasons(const Study& study) {
    std::map<std::pair<std::string, std::string>, int> reasons;
    for (const Trial& trial : study.trials())
        if (trial.outcome != Outcome::built && trial.outcome != Outcome::duplicate)
            ++reasons[{std::string(to_string(trial.outcome)), trial.reason}];
    return reasons;
}

Json knobs_json(const Study& study) {
    Json list = Json::array();
    for (const KnobEvidence& knob : knob_evidence(study))
        list.push_back({{"builder", knob.builder},
                        {"knob", knob.knob},
                        {"family", knob.family},
                        {"trials", knob.trials},
                        {"built", knob.built},
                        {"inert", knob.inert()},
                        {"pairs_same_engine", knob.same},
                        {"pairs_other_engine", knob.different},
                        {"never_tried", knob.never_tried}});
    return list;
}

// The route that the search had built the delivered engine with, before pruning.
std::string found_as(const Study& study, const Json& result) {
    const EngineRecord* engine = study.find(result.at("evidence").at("fingerprint").get<std::string>());
    for (const Trial& trial : study.trials())
        if (engine != nullptr && trial.id == engine->trial) return trial.route;
    return result.at("route").get<std::string>();
}

void write_verdict(std::string& out, const Study& study, const Json& result) {
    const std::string verdict = result.at("verdict").get<std::string>(), why = result.at("why").get<std::string>();
    const Json& facts = result.at("evidence");
    if (verdict == "FASTER") {
        out += fmt::format("**FASTER: {:.3f}x the speed of the default engine, 95 % interval [{:.3f}, {:.3f}].**\n\n",
                           result.at("speedup").get<double>(), result.at("low").get<double>(),
                           result.at("high").get<double>());
        out += fmt::format("Claimed after {} confirm visits (p = {:.2g}, level {:.2g}); ",
                           whole<int>(facts.at("confirm_visits")), facts.at("p").get<double>(),
                           facts.at("level").get<double>());
        if (facts.at("estimate_is_biased").get<bool>())
            out +=
                "no time was left for report visits, so the figure comes from the confirm visits and is biased "
                "upwards.\n\n";
        else
            out += fmt::format("the figure comes from {} further visits.\n\n", whole<int>(facts.at("report_visits")));
    } else {
        out += fmt::format("**{}** ({}). The default engine is delivered.\n\n", verdict, escaped(why));
    }
    out +=
        fmt::format("- engine: `{}`\n- builder: {}\n- route: `{}`\n", escaped(result.at("engine").get<std::string>()),
                    escaped(result.at("builder").get<std::string>()), escaped(result.at("route").get<std::string>()));
    if (const std::string found = found_as(study, result); found != result.at("route"))
        out += fmt::format("- found as: `{}`; settings that do not change the engine were dropped\n", escaped(found));
    const double resolution = facts.at("resolution").get<double>();
    if (resolution > 0)
        out += fmt::format("- resolution: gains under {:.2f} % could not have been shown\n", 100 * resolution);
    else
        out += "- resolution: none, no engine was tested to the end of a look\n";
    if (facts.contains("margin"))
        out +=
            fmt::format("- smallest gain worth a claim on this machine: {:.2f} % (spread of equal engines {:.2f} %)\n",
                        100 * facts.at("margin").get<double>(), 100 * facts.at("control_spread").get<double>());
    out += fmt::format("- {} trials, {} distinct engines, {} visits, {:.0f} s in the last session, {} session(s)\n\n",
                       study.trials().size(), study.engines().size(), study.visits().size(),
                       result.at("seconds").get<double>(), study.sessions());
}

// Where builders met: what each of them had, and by how much the winner leads.
void write_builders(std::string& out, const Study& study, const Json& facts) {
    if (study.header().builders.size() < 2) return;
    const Json peers = facts.value("peers", Json::array());
    out += "## Builders\n\nSelection estimates over the default engine, biased; - is none inside the tolerance.\n\n";
    out += "| builder | trials | engines | inside the tolerance | default | best |\n|---|---|---|---|---|---|\n";
    for (const std::string& entry : study.header().builders) {
        const std::string name = split(entry, ' ').front();
        int trials = 0, engines = 0, passed = 0;
        for (const Trial& trial : study.trials()) trials += trial.builder == name;
        std::string own = "-", best = "-";
        double most = -INFINITY;
        for (const auto& [fingerprint, engine] : study.engines()) {
            if (engine.builder != name) continue;
            ++engines;
            passed += engine.passed;
            if (!engine.passed || engine.screen.empty()) continue;
            const double estimate = mean(engine.screen);
            if (engine.route.empty()) own = fmt::format("{:.3f}x", std::exp(estimate));
            if (estimate > most) best = fmt::format("{:.3f}x", std::exp(estimate));
            most = std::max(most, estimate);
        }
        if (name == split(study.header().builders.front(), ' ').front()) own = "1 (the reference)";
        out +=
            fmt::format("| {} | {} | {} | {} | {} | {} |\n", markdown_cell(entry), trials, engines, passed, own, best);
    }
    if (!peers.empty()) out += "\nThe winner over the best engine of another builder, on the report's visits:\n";
    for (const Json& peer : peers)
        out +=
            fmt::format("\n- {} `{}`: {:.3f}x, 95 % interval [{:.3f}, {:.3f}]", peer.at("builder").get<std::string>(),
                        escaped(peer.at("route").get<std::string>()), peer.at("speedup").get<double>(),
                        peer.at("low").get<double>(), peer.at("high").get<double>());
    out += peers.empty() ? "\n" : "\n\n";
}

void write_snippets(std::string& out, const Json& result) {
    if (!result.contains("snippets") || result.at("snippets").empty()) return;
    out += "## How to use it without Headway\n\n";
    for (const auto& [language, code] : result.at("snippets").items())
        out += fmt::format("```{}\n{}```\n\n", language == "c++" ? "cpp" : language, code.get<std::string>());
}

void write_settings(std::string& out, const Study& study, const Json& result) {
    const auto settings = route_settings(result.at("route").get<std::string>());
    out += "## Settings that differ from the default\n\n";
    if (settings.empty()) {
        out += "None.\n\n";
        return;
    }
    out += "| family | knob | value | default |\n|---|---|---|---|\n";
    for (const auto& [knob, value] : settings) {
        const std::string name = knob.substr(0, knob.find('@'));
        for (const KnobDescription& described : study.knobs(result.at("builder").get<std::string>()))
            if (described.name == name)
                out += fmt::format("| {} | {} | {} | {} |\n", markdown_cell(described.family), markdown_cell(knob),
                                   markdown_cell(value), markdown_cell(described.values.front()));
    }
    out += "\n";
}

void write_accuracy(std::string& out, const Json& facts) {
    out += fmt::format("## Accuracy\n\nGate: {}. {:.0f} % of the tolerance is left on the tuning data.\n\n",
                       facts.at("tolerance").get<std::string>(), 100 * facts.at("accuracy_margin").get<double>());
    if (facts.at("synthetic_data").get<bool>())
        out += "No data were given: accuracy was judged on generated inputs, which may not look like yours.\n\n";
    if (!facts.at("has_heldout").get<bool>())
        out +=
            "There are no held-out data (fewer than three samples): the winner was judged on the data it was chosen "
            "with.\n\n";
    out += "| data | output | max_abs | rel_l2 | cosine | mismatches | pass |\n|---|---|---|---|---|---|---|\n";
    for (const char* data : {"tuning", "heldout"}) {
        const Json& gate = facts.at(data);
        if (!gate.is_object() || !gate.contains("outputs")) continue;
        for (const Json& output : gate.at("outputs"))
            out += fmt::format("| {} | {} | {:.3g} | {:.3g} | {:.7g} | {} | {} |\n", data,
                               markdown_cell(output.at("name").get<std::string>()), output.at("max_abs").get<double>(),
                               output.at("rel_l2").get<double>(), output.at("cosine").get<double>(),
                               whole<int64_t>(output.at("mismatches")), output.at("pass").get<bool>() ? "yes" : "no");
    }
    out += "\n";
}

void write_engines(std::string& out, const Study& study) {
    out += "## Best engines of the selection\n\nSelection estimates, biased: whoever leads was partly lucky.\n\n";
    out += "| estimate | visits | builder | route |\n|---|---|---|---|\n";
    const std::vector<Ranked> ranked = ranked_engines(study);
    for (size_t i = 0; i < ranked.size() && i < listed_engines; ++i)
        out +=
            fmt::format("| {:.3f}x | {} | {} | `{}` |\n", std::exp(ranked[i].estimate), ranked[i].engine->screen.size(),
                        markdown_cell(ranked[i].engine->builder), markdown_cell(ranked[i].engine->route));
    out += "\n";
}

void write_outcomes(std::string& out, const Study& study) {
    out += "## What became of the trials\n\n| outcome | trials |\n|---|---|\n";
    for (const auto& [outcome, count] : outcome_counts(study)) out += fmt::format("| {} | {} |\n", outcome, count);
    const auto reasons = failure_reasons(study);
    if (!reasons.empty()) out += "\n| outcome | reason | trials |\n|---|---|---|\n";
    for (const auto& [key, count] : reasons)
        out += fmt::format("| {} | {} | {} |\n", key.first, markdown_cell(key.second), count);
    out += "\n";
}

void write_knobs(std::string& out, const Study& study) {
    struct Family {
        int knobs = 0, live = 0, same = 0, different = 0;
    };
    std::map<std::string, Family> families;
    std::vector<std::string> inert, untouched;
    for (const KnobEvidence& knob : knob_evidence(study)) {
        Family& family = families[knob.family];
        ++family.knobs;
        family.live += knob.different > 0;
        family.same += knob.same;
        family.different += knob.different;
        const std::string name = study.header().builders.size() > 1 ? knob.builder + ":" + knob.knob : knob.knob;
        if (knob.inert()) inert.push_back(name);
        for (const std::string& value : knob.never_tried) untouched.push_back(name + "=" + value);
    }
    out +=
        "## Knobs\n\n| family | knobs | seen to change the engine | pairs of routes that gave another engine | the "
        "same engine |\n"
        "|---|---|---|---|---|\n";
    for (const auto& [name, family] : families)
        out += fmt::format("| {} | {} | {} | {} | {} |\n", markdown_cell(name), family.knobs, family.live,
                           family.different, family.same);
    out += fmt::format("\nInert for this model, as far as tried: {}.\n\nNever tried: {}.\n\n",
                       inert.empty() ? "none" : escaped(join(inert, ", ")),
                       untouched.empty() ? "nothing" : escaped(join(untouched, ", ")));
}

void write_machine(std::string& out, const Study& study, const Json& facts) {
    const auto missing = facts.at("missing_guards").get<std::vector<std::string>>();
    out += fmt::format(
        "## Measurement\n\n- target: `{}`\n- rounds: {}, dropped by guards: {}\n- guards that this machine lacks: {}\n",
        escaped(study.header().target), whole<int>(facts.at("rounds")), whole<int>(facts.at("dropped_rounds")),
        missing.empty() ? "none" : join(missing, ", "));
    for (const std::string& note : study.notes()) out += "- note: " + escaped(note) + "\n";
}

}  // namespace

std::string report_json(const Study& study) {
    Json report{{"format", "headway-report"}, {"version", 1}};
    report["result"] = study.result_json().empty() ? Json() : Json::parse(study.result_json());
    if (report["result"].is_object()) report["found_as"] = found_as(study, report["result"]);
    report["model"] = study.header().model_hash;
    report["target"] = study.header().target;
    report["threads"] = study.header().threads;
    report["scenario"] = study.header().scenario;
    report["builders"] = study.header().builders;
    report["sessions"] = study.sessions();
    report["trials"] = study.trials().size();
    report["distinct_engines"] = study.engines().size();
    report["outcomes"] = outcome_counts(study);
    Json reasons = Json::array();
    for (const auto& [key, count] : failure_reasons(study))
        reasons.push_back({{"outcome", key.first}, {"reason", key.second}, {"trials", count}});
    report["reasons"] = reasons;
    Json engines = Json::array();
    for (const Ranked& ranked : ranked_engines(study))
        engines.push_back({{"fingerprint", ranked.engine->fingerprint},
                           {"builder", ranked.engine->builder},
                           {"route", ranked.engine->route},
                           {"selection_estimate_biased", std::exp(ranked.estimate)},
                           {"visits", ranked.engine->screen.size()},
                           {"accuracy_margin", ranked.engine->accuracy_margin},
                           {"bytes", ranked.engine->bytes}});
    report["engines"] = engines;
    report["knobs"] = knobs_json(study);
    report["notes"] = study.notes();
    return report.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string report_markdown(const Study& study) {
    std::string out = "# Tuning report\n\n";
    const Json result = study.result_json().empty() ? Json() : Json::parse(study.result_json());
    if (result.is_object()) {
        write_verdict(out, study, result);
        write_builders(out, study, result.at("evidence"));
        write_snippets(out, result);
        write_settings(out, study, result);
        write_accuracy(out, result.at("evidence"));
    } else {
        out += fmt::format("The study has no result yet: {} trials, {} distinct engines.\n\n", study.trials().size(),
                           study.engines().size());
    }
    write_engines(out, study);
    write_outcomes(out, study);
    write_knobs(out, study);
    if (result.is_object()) write_machine(out, study, result.at("evidence"));
    return out;
}

void write_report(const Study& study) {
    write_file_atomically(study.folder() + "/report.json", report_json(study));
    write_file_atomically(study.folder() + "/report.md", report_markdown(study));
}

}  // namespace headway
