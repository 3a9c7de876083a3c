#include "tuner/replay.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "measure/judge.h"
#include "tuner/visits.h"

namespace headway {
namespace {

constexpr double rounding = 1e-9;  // of values that went through text

void replay_values(const Study& study, Replay& replay) {
    for (const VisitRecord& visit : study.visits()) {
        ++replay.visits;
        const std::vector<double> values = visit_values(visit);
        for (size_t i = 0; i < values.size(); ++i)
            if (!(std::fabs(values[i] - visit.values[i]) <= rounding))
                replay.contradictions.push_back("visit " + std::to_string(replay.visits) + ": the value of engine " +
                                                visit.engines[i + 1] + " does not follow from its block times");
    }
}

struct Tested {
    std::string claimed;  // fingerprint, "" = no claim
    int rounds = 0, dropped = 0;
};

Tested replay_confirm(const Study& study, const ConfirmRecord& plan) {
    ConfirmRules rules;
    rules.alpha = plan.alpha;
    rules.margin = plan.margin;
    const auto finalists = static_cast<int>(plan.finalists.size());
    Confirm confirm(rules, finalists, plan.affordable, plan.seed);
    Tested tested;
    int withdrawn = 0;
    for (size_t i = plan.first_visit; i < study.visits().size(); ++i) {
        const VisitRecord& visit = study.visits()[i];
        if (visit.purpose != Purpose::confirm || visit.engines.size() != 2) continue;
        const auto at = std::find(plan.finalists.begin(), plan.finalists.end(), visit.engines.back());
        const auto wanted = static_cast<int>(at - plan.finalists.begin());
        // The session went on to another finalist: this one crashed, or failed on the held-out data.
        while (confirm.next() != wanted && withdrawn < finalists) {
            confirm.withdraw();
            ++withdrawn;
        }
        if (confirm.next() != wanted) return tested;
        confirm.record(visit.values.front());
        tested.rounds += static_cast<int>(visit.rounds.size());
        tested.dropped += visit.dropped();
    }
    if (confirm.outcome().finding == Finding::faster)
        tested.claimed = plan.finalists[static_cast<size_t>(confirm.outcome().finalist)];
    return tested;
}

}  // namespace

Replay replay(const Study& study) {
    Replay replay;
    replay_values(study, replay);
    if (study.result_json().empty()) return replay;
    const auto result = nlohmann::json::parse(study.result_json());
    const std::string recorded = result.at("verdict").get<std::string>();
    replay.verdict = recorded;
    replay.route = result.at("route").get<std::string>();
    Tested tested;
    if (!study.confirms().empty()) tested = replay_confirm(study, study.confirms().back());
    if (recorded == to_string(Finding::faster)) {
        const std::string winner = result.at("evidence").at("fingerprint").get<std::string>();
        if (tested.claimed != winner || too_many_dropped(tested.dropped, tested.rounds)) {
            replay.verdict = to_string(Finding::no_gain);
            replay.contradictions.push_back("the claim for engine " + winner +
                                            " does not follow from the confirm visits");
        }
    }
    return replay;
}

}  // namespace headway
