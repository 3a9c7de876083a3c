#include "tuner/ruling.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/error.h"
#include "knobs/route.h"
#include "measure/finalists.h"
#include "measure/race.h"
#include "measure/rounds.h"
#include "tuner/prune.h"

namespace headway {
namespace {

constexpr int race_candidates = 8;
constexpr int race_heats = 10;  // that a race of so many candidates takes
constexpr int most_finalists = 3;
constexpr int report_visits = 12;
constexpr int usual_confirm_visits = 20;  // a large gain needs 8; kept back for one that needs more
constexpr int first_look_visits = 8;      // the confirm test's first look
constexpr int first_look_heats = 3;
constexpr double heldout_s = 10;
constexpr int most_heldout_attempts = 3;
constexpr int most_pruning_builds = 24;  // of a winner with a dozen settings
constexpr double most_pruning_share = 0.05;
constexpr double alpha = 0.05;

int non_default_knobs(const std::string& route) {
    return route.empty() ? 0 : 1 + static_cast<int>(std::count(route.begin(), route.end(), ','));
}

// The clock could not tell the engines of the study's visits apart.
bool ties(const Study& study) {
    int tied = 0, rounds = 0;
    for (const VisitRecord& visit : study.visits())
        for (size_t engine = 1; engine < visit.engines.size(); ++engine) {
            tied += tied_rounds(visit.rounds, static_cast<int>(engine));
            rounds += static_cast<int>(visit.rounds.size());
        }
    return too_many_tied(tied, rounds);
}

}  // namespace

double Decider::reserve() const {
    const auto heat = static_cast<size_t>(arena_.heat_size());
    const double wanted = race_heats * arena_.expected_seconds(heat, Purpose::race) +
                          usual_confirm_visits * arena_.expected_seconds(1, Purpose::confirm) + report_seconds() +
                          closing_seconds();
    return std::min(wanted, most_reserve_);
}

double Decider::least_reserve() const {
    return first_look_heats * arena_.expected_seconds(2, Purpose::race) +
           first_look_visits * arena_.expected_seconds(1, Purpose::confirm) + closing_seconds();
}

// The best engines of other builders take part.
double Decider::report_seconds() const {
    return report_visits * arena_.expected_seconds(session_.arms.size(), Purpose::report);
}

double Decider::closing_seconds() const {
    return heldout_seconds() +
           std::min(most_pruning_builds * trials_.longest_build_s(), session_.budget.seconds() * most_pruning_share);
}

double Decider::heldout_seconds() const { return std::min(heldout_s, session_.budget.seconds() / 20); }

Ruling Decider::decide() {
    if (!arena_.control().fit) {
        Ruling unfit;
        unfit.finding = Finding::unfit;
        unfit.why = Why::control;
        return unfit;
    }
    if (session_.data.unfit_to_time()) {
        Ruling unfit;
        unfit.finding = Finding::unfit;
        unfit.detail = "inputs: " + *session_.data.unfit_to_time();
        return unfit;
    }
    Ruling ruling = confirm(choose(race(contenders())));
    if (ruling.finding != Finding::no_gain) return ruling;
    if (ruling.detail.empty() && ties(session_.study)) ruling.why = Why::clock;
    // Nobody was worth a test: what a whole one would have shown with the spread of the control.
    const ConfirmRules rules;
    const Look& last = rules.looks.back();
    if (ruling.why == Why::no_contender)
        ruling.resolution =
            resolution(arena_.control().spread, last.visits, alpha * rules.weights.front() * last.share);
    return ruling;
}

// Engines that passed the gate and looked faster than the default, best first, one per timing key.
std::vector<std::string> Decider::contenders() const {
    std::map<std::string, std::pair<double, std::string>> by_key;
    for (const auto& [fingerprint, engine] : session_.study.engines()) {
        const double estimate = arena_.selection_estimate(engine);
        if (!engine.passed || fingerprint == arena_.reference() || !(estimate > 0)) continue;
        auto [at, fresh] = by_key.try_emplace(engine.timing_key, estimate, fingerprint);
        if (!fresh && session_.study.find(at->second.second)->accuracy_margin < engine.accuracy_margin)
            at->second.second = fingerprint;
    }
    std::vector<std::pair<double, std::string>> ranked;
    for (const auto& [key, entry] : by_key) ranked.push_back(entry);
    std::sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    std::vector<std::string> best;
    for (const auto& [estimate, fingerprint] : ranked)
        if (best.size() < race_candidates) best.push_back(fingerprint);
    return best;
}

// Survivors first. Ends early when the confirm test needs the time.
std::vector<std::string> Decider::race(const std::vector<std::string>& engines) {
    session_.progress.phase("racing the best candidates");
    std::vector<std::string> present;
    for (const std::string& engine : engines)
        if (trials_.ensure_engine(engine)) present.push_back(engine);
    RaceRules rules;
    rules.heat_size = arena_.heat_size();
    Race race(static_cast<int>(present.size()), rules, session_.options.seed);
    const double confirm_s = (usual_confirm_visits + report_visits) * arena_.expected_seconds(1, Purpose::confirm);
    bool in_time = true;
    while (in_time) {
        const std::vector<Heat> wave = race.next_wave();
        if (wave.empty()) break;
        for (const Heat& heat : wave) {
            in_time = session_.budget.left() - arena_.expected_seconds(heat.size(), Purpose::race) >
                      std::min(confirm_s, session_.budget.seconds() / 4);
            if (!in_time) break;
            std::vector<std::string> names;
            for (const int candidate : heat) names.push_back(present[static_cast<size_t>(candidate)]);
            const std::vector<std::string> failed = arena_.visit(names, Purpose::race);
            const VisitRecord& record = session_.study.visits().back();
            for (const int candidate : heat) {
                const std::string& name = present[static_cast<size_t>(candidate)];
                const auto at = std::find(record.engines.begin() + 1, record.engines.end(), name);
                if (std::find(failed.begin(), failed.end(), name) != failed.end())
                    race.withdraw(candidate);
                else
                    race.record(candidate, record.values[static_cast<size_t>(at - record.engines.begin()) - 1]);
            }
        }
    }
    std::vector<std::string> survivors;
    for (const Standing& standing : race.standings())
        if (standing.in_race) survivors.push_back(present[static_cast<size_t>(standing.candidate)]);
    return survivors;
}

std::vector<std::string> Decider::choose(const std::vector<std::string>& engines) const {
    std::vector<Contender> contenders;
    for (size_t i = 0; i < engines.size(); ++i) {
        const EngineRecord& engine = *session_.study.find(engines[i]);
        contenders.push_back({static_cast<int>(i), engine.screen, non_default_knobs(engine.route),
                              engine.accuracy_margin, engine.bytes});
    }
    std::vector<std::string> finalists;
    for (const int candidate : choose_finalists(contenders, arena_.control().margin, most_finalists))
        finalists.push_back(engines[static_cast<size_t>(candidate)]);
    return finalists;
}

int Decider::affordable_visits() const {
    const double pair_s = arena_.expected_seconds(1, Purpose::confirm);
    const double left = session_.budget.left() - closing_seconds();
    // The report gets its share, but never what the first look of the test needs.
    const int visits = static_cast<int>(left / pair_s);
    return std::max(std::min(visits, first_look_visits), static_cast<int>((left - report_seconds()) / pair_s));
}

Ruling Decider::confirm(const std::vector<std::string>& finalists) {
    session_.progress.phase("confirming the finalists on fresh visits");
    Ruling ruling;
    ruling.finalists = finalists;
    ConfirmRules rules;
    // The first session has the whole error level; each further one of the same study half of what the last one had.
    rules.alpha = alpha / std::pow(2.0, session_.study.confirms().size());
    rules.margin = arena_.control().margin;
    const ConfirmRecord plan{finalists, rules.alpha, rules.margin, affordable_visits(), session_.options.seed, 0};
    if (!finalists.empty()) session_.study.start_confirm(plan);
    Confirm confirm(rules, static_cast<int>(finalists.size()), plan.affordable, plan.seed);
    for (;;) {
        while (const std::optional<int> finalist = confirm.next())
            confirm_visit(confirm, finalists[static_cast<size_t>(*finalist)]);
        const ConfirmOutcome& outcome = confirm.outcome();
        ruling.finding = outcome.finding;
        ruling.why = outcome.why;
        ruling.p = outcome.p;
        ruling.level = outcome.level;
        ruling.resolution = outcome.resolution;
        if (outcome.finding != Finding::faster) return ruling;
        if (too_many_dropped(confirm_dropped_, confirm_rounds_)) {
            ruling.finding = Finding::unstable;
            ruling.why = Why::dropped;
            return ruling;
        }
        const auto claimed = static_cast<size_t>(outcome.finalist);
        ruling.confirm_visits = static_cast<int>(confirm.values()[claimed].size());
        estimate(ruling, finalists[claimed], confirm.values()[claimed]);
        // Before the hold-out, so that the file that passes it is the file that is delivered.
        session_.budget.reserve(heldout_seconds());
        prune_route(session_, trials_, finalists[claimed]);
        if (passes_heldout(ruling, finalists[claimed])) {
            ruling.winner = finalists[claimed];
            return ruling;
        }
        ruling.speedup = {1, 1, 1};
        ruling.peers.clear();
        confirm.withdraw();
    }
}

void Decider::confirm_visit(Confirm& confirm, const std::string& finalist) {
    if (session_.budget.left() < arena_.expected_seconds(1, Purpose::confirm)) return confirm.stop();
    try {
        if (!trials_.ensure_engine(finalist) || !arena_.visit({finalist}, Purpose::confirm).empty())
            return confirm.withdraw();
    } catch (const WorkerError& error) {
        if (error.failure() != Failure::interrupted) throw;
        return confirm.stop();
    }
    const VisitRecord& record = session_.study.visits().back();
    confirm_rounds_ += static_cast<int>(record.rounds.size());
    confirm_dropped_ += record.dropped();
    confirm.record(record.values.front());
    session_.progress.update(static_cast<int>(session_.study.trials().size()),
                             static_cast<int>(session_.study.engines().size()), std::exp(record.values.front()));
}

// Of each builder but the winner's the engine that the selection found fastest, the reference's builder left out: the
// reference is in every visit.
std::vector<std::string> Decider::best_of_other_builders(const std::string& claimed) {
    std::map<std::string, std::pair<double, std::string>> best;
    for (const auto& [fingerprint, engine] : session_.study.engines()) {
        const double estimate = arena_.selection_estimate(engine);
        if (!engine.passed || !std::isfinite(estimate)) continue;
        const auto [at, fresh] = best.try_emplace(engine.builder, estimate, fingerprint);
        if (!fresh && estimate > at->second.first) at->second = {estimate, fingerprint};
    }
    best.erase(session_.study.find(claimed)->builder);
    std::vector<std::string> engines;
    for (const auto& [builder, found] : best)
        if (found.second != arena_.reference() && static_cast<int>(engines.size()) + 1 < arena_.heat_size() &&
            trials_.ensure_engine(found.second))
            engines.push_back(found.second);
    return engines;
}

// On visits that nothing was selected by, so that the printed gain is unbiased.
void Decider::estimate(Ruling& ruling, const std::string& claimed, const std::vector<double>& confirm_values) {
    session_.progress.phase("estimating the gain on further visits");
    std::vector<std::string> heat{claimed};
    for (std::string& peer : best_of_other_builders(claimed)) heat.push_back(std::move(peer));
    std::map<std::string, std::vector<double>> values;  // log speed-up over the reference, by engine and visit
    try {
        while (static_cast<int>(values[claimed].size()) < report_visits &&
               session_.budget.left() > arena_.expected_seconds(heat.size(), Purpose::report) + closing_seconds()) {
            for (const std::string& failed : arena_.visit(heat, Purpose::report)) std::erase(heat, failed);
            if (heat.empty() || heat.front() != claimed) break;
            const VisitRecord& record = session_.study.visits().back();
            for (size_t i = 1; i < record.engines.size(); ++i)
                values[record.engines[i]].push_back(record.values[i - 1]);
        }
    } catch (const WorkerError& error) {
        if (error.failure() != Failure::interrupted) throw;
    }
    const std::vector<double>& own = values[claimed];
    ruling.report_visits = static_cast<int>(own.size());
    constexpr int least_visits = 4;  // fewer give an interval too wide to read
    ruling.estimate_is_biased = ruling.report_visits < least_visits;
    ruling.speedup = speedup_interval(ruling.estimate_is_biased ? confirm_values : own);
    for (size_t i = 1; i < heat.size() && !ruling.estimate_is_biased; ++i) {
        std::vector<double> ahead = own;
        for (size_t visit = 0; visit < own.size(); ++visit) ahead[visit] -= values[heat[i]][visit];
        ruling.peers.push_back({heat[i], speedup_interval(ahead)});
    }
}

bool Decider::passes_heldout(Ruling& ruling, const std::string& fingerprint) {
    ruling.heldout_json = "null";
    if (!session_.data.has_heldout()) return true;
    if (session_.study.heldout_attempts() >= most_heldout_attempts) {
        ruling.detail = "the held-out data were used " + std::to_string(most_heldout_attempts) + " times in this study";
        return false;
    }
    session_.progress.phase("checking the winner on held-out data");
    // Also after Ctrl-C: a claim without this check would be none.
    Workshop& workshop = *session_.arm(session_.study.find(fingerprint)->builder).workshop;
    for (Arm& arm : session_.arms) arm.workshop->set_stop(nullptr);
    session_.study.start_heldout(fingerprint);
    Judgement judgement;
    try {
        const std::vector<JudgedSample> samples = session_.open_heldout();
        const std::string out = session_.scratch() + "/heldout-outputs";
        asked_twice([&] { produce_outputs(workshop, session_.study.engine_path(fingerprint), samples, out, 60); });
        judgement = judge_outputs(samples, out, session_.options.gate);
    } catch (const WorkerError& error) {
        judgement.reason = error.what();
    }
    session_.study.record_heldout(fingerprint, judgement.passed, judgement.json);
    ruling.heldout_json = judgement.json;
    if (!judgement.passed) ruling.detail = "an engine failed on the held-out data: " + judgement.reason;
    return judgement.passed;
}

}  // namespace headway
