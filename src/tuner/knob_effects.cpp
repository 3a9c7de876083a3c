#include "tuner/knob_effects.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "measure/pooling.h"
#include "tuner/route_text.h"

namespace headway {
namespace {

constexpr double error_level = 0.05;
// Visits never agree better than this; a few that do by chance must not make every difference look real.
constexpr double least_visit_deviation = 0.005;

// Pooled over the engines that were visited more than once, the copy of the default among them.
struct VisitNoise {
    double deviation = least_visit_deviation;
    int degrees_of_freedom = 1;
};

VisitNoise visit_noise(const Study& study) {
    std::vector<std::vector<double>> groups(1);
    for (const VisitRecord& visit : study.visits())
        if (visit.purpose == Purpose::control) groups.front().push_back(visit.values.front());
    for (const auto& [fingerprint, engine] : study.engines()) groups.push_back(engine.screen);
    double squares = 0;
    int freedom = 0;
    for (const std::vector<double>& group : groups) {
        if (group.size() < 2) continue;
        const auto more = static_cast<double>(group.size() - 1);
        squares += more * std::pow(standard_deviation(group), 2);
        freedom += static_cast<int>(more);
    }
    if (freedom == 0) return {};
    return {std::max(least_visit_deviation, std::sqrt(squares / freedom)), freedom};
}

// An engine as the visits know it: those that share a timing key share their visits.
struct Measured {
    std::string key;
    double log_speedup = 0;
    double variance = 0;  // in units of one visit's variance
};

class Analysis {
public:
    explicit Analysis(const Study& study) : study_(study), noise_(visit_noise(study)) {
        if (!study.visits().empty()) reference_ = study.visits().front().engines.front();
        for (const auto& [fingerprint, engine] : study.engines()) {
            std::vector<double>& values = values_[engine.timing_key];
            values.insert(values.end(), engine.screen.begin(), engine.screen.end());
        }
        for (const Trial& trial : study.trials()) {
            trials_[{trial.builder, trial.route}] = &trial;
            const auto settings = route_settings(trial.route);
            for (size_t i = 0; i < settings.size(); ++i)
                uses_[{trial.builder, settings[i].first, settings[i].second}].push_back({&trial, i});
        }
    }

    KnobEffects run() {
        KnobEffects all;
        all.visit_deviation = noise_.deviation;
        std::vector<Estimate> estimates;
        for (const std::string& named : study_.header().builders) {
            const std::string builder = named.substr(0, named.find(' '));
            for (const KnobDescription& knob : study_.knobs(builder))
                for (size_t i = 1; i < knob.values.size(); ++i) {
                    KnobEffect effect;
                    effect.builder = builder;
                    effect.knob = knob.name;
                    effect.value = knob.values[i];
                    effect.default_value = knob.values.front();
                    estimates.push_back(estimate(effect));
                    all.measured += effect.state == EffectState::unclear;
                    all.effects.push_back(std::move(effect));
                }
        }
        for (size_t i = 0; i < all.effects.size(); ++i)
            if (all.effects[i].state == EffectState::unclear) judge(all.effects[i], estimates[i], all.measured);
        mark_winner(all.effects);
        return all;
    }

private:
    struct Use {
        const Trial* trial;
        size_t setting;
    };

    bool acceptable(const Trial& trial) const {
        const EngineRecord* engine = study_.find(trial.fingerprint);
        return engine != nullptr && engine->passed;
    }

    std::optional<Measured> measured(const Trial& trial) const {
        const EngineRecord* engine = study_.find(trial.fingerprint);
        if (engine == nullptr || !engine->passed) return std::nullopt;
        if (trial.fingerprint == reference_) return Measured{engine->timing_key, 0, 0};
        const std::vector<double>& values = values_.at(engine->timing_key);
        if (values.empty()) return std::nullopt;
        return Measured{engine->timing_key, mean(values), 1 / static_cast<double>(values.size())};
    }

    // Sets the state, `unclear` when there is an estimate.
    Estimate estimate(KnobEffect& effect) const {
        const auto uses = uses_.find({effect.builder, effect.knob, effect.value});
        if (uses == uses_.end()) return {};
        bool any_acceptable = false, any_same = false, any_different = false;
        std::map<std::pair<std::string, std::string>, Estimate> pairs;
        for (const auto& [trial, setting] : uses->second) {
            any_acceptable = any_acceptable || acceptable(*trial);
            const auto other = trials_.find({effect.builder, route_without(trial->route, setting)});
            if (trial->fingerprint.empty() || other == trials_.end() || other->second->fingerprint.empty()) continue;
            const bool same = trial->fingerprint == other->second->fingerprint;
            (same ? any_same : any_different) = true;
            const std::optional<Measured> with = measured(*trial), without = measured(*other->second);
            if (!with || !without || with->key == without->key) continue;
            pairs[{with->key, without->key}] = {with->log_speedup - without->log_speedup,
                                                noise_.deviation * std::sqrt(with->variance + without->variance)};
        }
        effect.pairs = static_cast<int>(pairs.size());
        if (!any_acceptable) {
            effect.state = EffectState::failed;
            effect.outcome = to_string(uses->second.front().trial->outcome);
        } else if (!pairs.empty()) {
            effect.state = EffectState::unclear;
        } else {
            effect.state = any_same && !any_different ? EffectState::inert : EffectState::unmeasured;
        }
        if (pairs.empty()) return {};
        std::vector<Estimate> list;
        for (const auto& [engines, pair] : pairs) list.push_back(pair);
        return pool(list);
    }

    // All effects of the study share the error level, so that a long list does not bring winners by luck.
    void judge(KnobEffect& effect, const Estimate& estimate, int measured) const {
        const double reach =
            student_quantile(1 - error_level / 2 / measured, noise_.degrees_of_freedom) * estimate.standard_error;
        const double half = student_quantile(1 - error_level / 2, noise_.degrees_of_freedom) * estimate.standard_error;
        if (std::fabs(estimate.value) > reach)
            effect.state = estimate.value > 0 ? EffectState::wins : EffectState::loses;
        effect.speedup = {std::exp(estimate.value), std::exp(estimate.value - half), std::exp(estimate.value + half)};
    }

    void mark_winner(std::vector<KnobEffect>& effects) const {
        if (study_.result_json().empty()) return;
        const auto result = nlohmann::json::parse(study_.result_json());
        if (result.at("verdict") != "FASTER") return;
        const auto settings = route_settings(result.at("route").get<std::string>());
        for (KnobEffect& effect : effects) {
            effect.in_winner =
                effect.builder == result.at("builder").get<std::string>() &&
                std::find(settings.begin(), settings.end(), std::pair(effect.knob, effect.value)) != settings.end();
            effect.claimed = effect.in_winner && settings.size() == 1;
            if (!effect.claimed) continue;
            effect.state = EffectState::wins;
            effect.speedup = {result.at("speedup").get<double>(), result.at("low").get<double>(),
                              result.at("high").get<double>()};
        }
    }

    const Study& study_;
    VisitNoise noise_;
    std::string reference_;
    std::map<std::string, std::vector<double>> values_;  // log speed-ups by timing key
    std::map<std::pair<std::string, std::string>, const Trial*> trials_;
    std::map<std::array<std::string, 3>, std::vector<Use>> uses_;
};

}  // namespace

std::string_view to_string(EffectState state) {
    switch (state) {
        case EffectState::untried:
            return "untried";
        case EffectState::failed:
            return "failed";
        case EffectState::inert:
            return "inert";
        case EffectState::unmeasured:
            return "unmeasured";
        case EffectState::unclear:
            return "unclear";
        case EffectState::wins:
            return "wins";
        case EffectState::loses:
            break;
    }
    return "loses";
}

KnobEffects knob_effects(const Study& study) { return Analysis(study).run(); }

}  // namespace headway
