#include "tuner/knob_evidence.h"

#include <algorithm>
#include <map>
#include <set>

#include "tuner/route_text.h"

namespace headway {
namespace {

using SettingMap = std::map<std::string, std::string>;

// The knob that alone differs between two routes; "" when it is none or several.
std::string only_difference(const SettingMap& a, const SettingMap& b) {
    std::set<std::string> differing;
    for (const auto& [knob, value] : a)
        if (const auto at = b.find(knob); at == b.end() || at->second != value) differing.insert(knob);
    for (const auto& [knob, value] : b)
        if (!a.contains(knob)) differing.insert(knob);
    return differing.size() == 1 ? *differing.begin() : "";
}

struct Parsed {
    const Trial* trial;
    SettingMap settings;
};

}  // namespace

std::vector<KnobEvidence> knob_evidence(const Study& study) {
    std::map<std::pair<std::string, std::string>, KnobEvidence> evidence;
    std::map<std::pair<std::string, std::string>, std::set<std::string>> tried;
    std::vector<Parsed> parsed;
    for (const Trial& trial : study.trials()) {
        Parsed entry{&trial, {}};
        for (const auto& [knob, value] : route_settings(trial.route)) {
            entry.settings[knob] = value;
            KnobEvidence& of_knob = evidence[{trial.builder, knob}];
            ++of_knob.trials;
            of_knob.built += trial.fingerprint.empty() ? 0 : 1;
            tried[{trial.builder, knob}].insert(value);
        }
        if (!trial.fingerprint.empty()) parsed.push_back(std::move(entry));
    }
    for (size_t i = 0; i < parsed.size(); ++i)
        for (size_t k = 0; k < i; ++k) {
            if (parsed[i].trial->builder != parsed[k].trial->builder) continue;
            const std::string knob = only_difference(parsed[i].settings, parsed[k].settings);
            if (knob.empty()) continue;
            KnobEvidence& of_knob = evidence[{parsed[i].trial->builder, knob}];
            ++(parsed[i].trial->fingerprint == parsed[k].trial->fingerprint ? of_knob.same : of_knob.different);
        }
    std::vector<KnobEvidence> list;
    for (const std::string& named : study.header().builders) {
        const std::string builder = named.substr(0, named.find(' '));
        for (const KnobDescription& knob : study.knobs(builder)) {
            KnobEvidence entry = evidence[{builder, knob.name}];
            entry.builder = builder;
            entry.knob = knob.name;
            entry.family = knob.family;
            const std::set<std::string>& values = tried[{builder, knob.name}];
            for (size_t i = 1; i < knob.values.size(); ++i)
                (values.contains(knob.values[i]) ? entry.tried : entry.never_tried).push_back(knob.values[i]);
            list.push_back(std::move(entry));
        }
    }
    return list;
}

}  // namespace headway
