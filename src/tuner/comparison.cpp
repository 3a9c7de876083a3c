#include "tuner/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "tuner/knob_effects.h"
#include "tuner/markdown.h"

namespace headway {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* caveat =
    "Selection estimates from the searches' own visits: biased, since a search looks longest where it was lucky, and "
    "no "
    "claims. Only a figure marked `claimed` was confirmed: the study's delivered route is that setting alone. `in the "
    "winner`: one of several settings of a confirmed route. A setting `wins` or `loses` where its effect stands out at "
    "a "
    "level of 5 % shared by all effects of its study; intervals are 95 % each.";

// A setting, and its effect in each study; null where the study's knobs do not have it.
struct Row {
    std::string builder, knob, value, default_value;
    std::vector<const KnobEffect*> effects;

    std::vector<size_t> studies(EffectState state) const {
        std::vector<size_t> found;
        for (size_t i = 0; i < effects.size(); ++i)
            if (effects[i] != nullptr && effects[i]->state == state) found.push_back(i);
        return found;
    }
    // In some study its own interval excludes "no effect", though perhaps not at the level that the study's effects
    // share.
    bool notable() const {
        return std::any_of(effects.begin(), effects.end(), [](const KnobEffect* effect) {
            return effect != nullptr && (effect->speedup.low > 1 || effect->speedup.high < 1);
        });
    }
    bool opposite() const { return !studies(EffectState::wins).empty() && !studies(EffectState::loses).empty(); }
};

struct Comparison {
    std::vector<std::string> labels;
    std::vector<KnobEffects> effects;
    std::vector<Row> rows;
};

// The last parts of the folders' paths, as many as tell them apart.
std::vector<std::string> study_labels(std::span<const Study> studies) {
    std::vector<std::vector<std::string>> parts;
    size_t deepest = 1;
    for (const Study& study : studies) {
        std::string path = std::filesystem::absolute(study.folder()).lexically_normal().string();
        while (path.ends_with('/')) path.pop_back();
        parts.push_back(split(path, '/'));
        deepest = std::max(deepest, parts.back().size());
    }
    std::vector<std::string> labels;
    for (size_t depth = 1; depth <= deepest; ++depth) {
        labels.clear();
        for (const auto& part : parts) labels.push_back(join(std::span(part).last(std::min(depth, part.size())), "/"));
        std::vector<std::string> sorted = labels;
        std::sort(sorted.begin(), sorted.end());
        if (std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end()) break;
    }
    return labels;
}

Comparison compare(std::span<const Study> studies) {
    Comparison comparison;
    comparison.labels = study_labels(studies);
    for (const Study& study : studies) comparison.effects.push_back(knob_effects(study));
    // A knob whose default differs between the studies is another comparison, and another row.
    std::map<std::array<std::string, 4>, Row> rows;
    for (size_t i = 0; i < studies.size(); ++i)
        for (const KnobEffect& effect : comparison.effects[i].effects) {
            Row& row = rows[{effect.builder, effect.knob, effect.value, effect.default_value}];
            row.builder = effect.builder;
            row.knob = effect.knob;
            row.value = effect.value;
            row.default_value = effect.default_value;
            row.effects.resize(studies.size());
            row.effects[i] = &effect;
        }
    for (auto& [key, row] : rows) comparison.rows.push_back(std::move(row));
    return comparison;
}

std::string setting(const Row& row) {
    return fmt::format("{}={} (default {})", markdown_cell(row.knob), markdown_cell(row.value),
                       markdown_cell(row.default_value));
}

std::string figure(const KnobEffect& effect) {
    return fmt::format("{:.3f}x [{:.3f}, {:.3f}]{}", effect.speedup.center, effect.speedup.low, effect.speedup.high,
                       effect.claimed     ? " claimed"
                       : effect.in_winner ? " in the winner"
                                          : "");
}

std::string describe(const KnobEffect* effect) {
    if (effect == nullptr) return "no such value";
    switch (effect->state) {
        case EffectState::wins:
            return "**wins** " + figure(*effect);
        case EffectState::loses:
            return "**loses** " + figure(*effect);
        case EffectState::unclear:
            return "unclear " + figure(*effect);
        case EffectState::inert:
            return "same engine";
        case EffectState::failed:
            return effect->outcome;
        case EffectState::unmeasured:
        case EffectState::untried:
            break;
    }
    return std::string(to_string(effect->state));
}

std::string verdict_of(const Study& study) {
    if (study.result_json().empty()) return "no result yet";
    const Json result = Json::parse(study.result_json());
    if (result.at("verdict") != "FASTER") return result.at("verdict").get<std::string>();
    return fmt::format("FASTER {:.3f}x [{:.3f}, {:.3f}], claimed", result.at("speedup").get<double>(),
                       result.at("low").get<double>(), result.at("high").get<double>());
}

Json indices_as_labels(const Comparison& comparison, const std::vector<size_t>& indices) {
    Json labels = Json::array();
    for (const size_t i : indices) labels.push_back(comparison.labels[i]);
    return labels;
}

Json effect_json(const KnobEffect& effect, const std::string& label) {
    Json json{{"study", label}, {"state", to_string(effect.state)}};
    if (effect.state == EffectState::failed) json["outcome"] = effect.outcome;
    if (effect.state == EffectState::wins || effect.state == EffectState::loses ||
        effect.state == EffectState::unclear) {
        json["speedup"] = effect.speedup.center;
        json["low"] = effect.speedup.low;
        json["high"] = effect.speedup.high;
        json["pairs"] = effect.pairs;
        json["kind"] = effect.claimed ? "claim" : "selection estimate (biased)";
        json["in_winner"] = effect.in_winner;
    }
    return json;
}

void write_studies(std::string& out, std::span<const Study> studies, const Comparison& comparison) {
    out += "| study | model | threads | result | visit noise | effects measured |\n|---|---|---|---|---|---|\n";
    for (size_t i = 0; i < studies.size(); ++i)
        out += fmt::format("| {} | {} | {} | {} | {:.1f} % | {} |\n", markdown_cell(comparison.labels[i]),
                           markdown_cell(studies[i].header().model_hash.substr(0, 12)), studies[i].header().threads,
                           verdict_of(studies[i]), 100 * comparison.effects[i].visit_deviation,
                           comparison.effects[i].measured);
    out += "\n";
}

void write_opposite(std::string& out, const Comparison& comparison) {
    out += "## Wins on one, loses on another\n\n";
    std::string lines;
    for (const Row& row : comparison.rows) {
        if (!row.opposite()) continue;
        lines += "- `" + setting(row) + "`";
        for (const EffectState state : {EffectState::wins, EffectState::loses})
            for (const size_t i : row.studies(state))
                lines += fmt::format("\n  - {} on {}: {}", to_string(state), escaped(comparison.labels[i]),
                                     figure(*row.effects[i]));
        lines += "\n";
    }
    out += (lines.empty() ? "None shown by these studies.\n" : lines) + "\n";
}

void write_table(std::string& out, const Comparison& comparison) {
    const auto notable = std::count_if(comparison.rows.begin(), comparison.rows.end(), std::mem_fn(&Row::notable));
    out += "## Settings that seem to matter somewhere\n\n";
    if (notable == 0) {
        out += "None of the effects stands out from the noise of its study's visits.\n";
        return;
    }
    out += "| setting |";
    for (const std::string& label : comparison.labels) out += " " + markdown_cell(label) + " |";
    out += "\n|---|";
    for (size_t i = 0; i < comparison.labels.size(); ++i) out += "---|";
    out += "\n";
    for (const Row& row : comparison.rows) {
        if (!row.notable()) continue;
        out += "| " + setting(row) + " |";
        for (const KnobEffect* effect : row.effects) out += " " + describe(effect) + " |";
        out += "\n";
    }
    out += fmt::format("\n{} other settings show no effect in any of these studies (`--json` lists them).\n",
                       comparison.rows.size() - static_cast<size_t>(notable));
}

}  // namespace

std::string comparison_json(std::span<const Study> studies) {
    const Comparison comparison = compare(studies);
    Json json{{"format", "headway-comparison"}, {"version", 1}, {"about", caveat}};
    json["studies"] = Json::array();
    for (size_t i = 0; i < studies.size(); ++i)
        json["studies"].push_back({{"study", comparison.labels[i]},
                                   {"folder", studies[i].folder()},
                                   {"model", studies[i].header().model_hash},
                                   {"target", studies[i].header().target},
                                   {"threads", studies[i].header().threads},
                                   {"result", verdict_of(studies[i])},
                                   {"visit_deviation", comparison.effects[i].visit_deviation},
                                   {"effects_measured", comparison.effects[i].measured}});
    json["opposite"] = Json::array();
    json["settings"] = Json::array();
    for (const Row& row : comparison.rows) {
        Json entry{{"builder", row.builder}, {"knob", row.knob}, {"value", row.value}, {"default", row.default_value}};
        if (row.opposite()) {
            Json both = entry;
            both["wins"] = indices_as_labels(comparison, row.studies(EffectState::wins));
            both["loses"] = indices_as_labels(comparison, row.studies(EffectState::loses));
            json["opposite"].push_back(std::move(both));
        }
        entry["effects"] = Json::array();
        for (size_t i = 0; i < row.effects.size(); ++i)
            if (row.effects[i] != nullptr)
                entry["effects"].push_back(effect_json(*row.effects[i], comparison.labels[i]));
        json["settings"].push_back(std::move(entry));
    }
    return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string comparison_markdown(std::span<const Study> studies) {
    const Comparison comparison = compare(studies);
    std::string out = fmt::format("# Knobs over {} studies\n\n{}\n\n", studies.size(), caveat);
    write_studies(out, studies, comparison);
    write_opposite(out, comparison);
    write_table(out, comparison);
    return out;
}

}  // namespace headway
