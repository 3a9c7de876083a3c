#include "tuner/explore.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "search/strategy.h"
#include "tuner/site_times.h"

namespace headway {
namespace {

constexpr int most_asks_per_heat = 3;  // proposals that turn out to be known engines leave a heat unfilled
constexpr size_t kept_engines = 12;    // files of the best ones; others are built again if they are needed
constexpr double least_visit_error = 0.005;
constexpr double first_trial_s = 1;

Fate fate_of(Outcome outcome) {
    switch (outcome) {
        case Outcome::built:
        case Outcome::duplicate:
            return Fate::built;
        case Outcome::wrong:
        case Outcome::nondeterministic:
            return Fate::wrong;
        case Outcome::refused:
        case Outcome::unsupported:
            return Fate::refused;
        case Outcome::failed:
        case Outcome::crashed:
        case Outcome::timeout:
        case Outcome::out_of_memory:
            break;
    }
    return Fate::failed;
}

class Explorer {
public:
    Explorer(Session& session, Arena& arena, Trials& trials, const Decider& decider)
        : session_(session), arena_(arena), trials_(trials), decider_(decider) {
        for (const Arm& arm : session.arms)
            strategies_.push_back(make_strategy(session.options.strategy, arm.space, session.options.seed));
    }

    bool run() {
        show();
        session_.progress.phase("searching");
        gate_leftovers();
        size_t turn = 0, finished = 0;
        while (finished < strategies_.size() && has_time()) {
            const bool more = fill_heat(turn % strategies_.size());
            finished = more ? 0 : finished + 1;
            ++turn;
            visit_fresh();
        }
        return finished < strategies_.size() && !at_trial_limit();
    }

private:
    bool at_trial_limit() const {
        const int most = session_.options.most_trials;
        return most > 0 && static_cast<int>(session_.study.trials().size()) >= most;
    }

    bool has_time() const {
        if (at_trial_limit()) return false;
        const double heat_s = arena_.expected_seconds(fresh_.size() + 1, Purpose::screen);
        return session_.budget.left_for_search() > heat_s + trial_s_;
    }

    // Engines that were built, but neither gated nor visited before the tuner was killed.
    void gate_leftovers() {
        std::vector<std::string> leftovers;
        for (const auto& [fingerprint, engine] : session_.study.engines())
            if (engine.screen.empty() && engine.gate == Outcome::built && fingerprint != arena_.reference())
                leftovers.push_back(fingerprint);
        for (const std::string& fingerprint : leftovers) {
            if (!has_time()) return;
            if (!session_.study.find(fingerprint)->passed) trials_.finish_gate(fingerprint);
            if (session_.study.find(fingerprint)->passed && trials_.ensure_engine(fingerprint))
                fresh_.push_back(fingerprint);
            if (static_cast<int>(fresh_.size()) >= arena_.heat_size()) visit_fresh();
        }
    }

    // Tries routes of one builder until a heat of new engines is together; false when its strategy has finished.
    bool fill_heat(size_t index) {
        const std::string& builder = session_.arms[index].workshop->builder();
        const int heat = arena_.heat_size();
        for (int asked = 0; asked < most_asks_per_heat && static_cast<int>(fresh_.size()) < heat; ++asked) {
            const std::vector<Observation> history = observations(index);
            Ask ask;
            ask.batch = heat;
            ask.affordable = std::max(1, static_cast<int>(session_.budget.left_for_search() / batch_cost() * heat));
            const std::vector<Proposal> proposals = strategies_[index]->propose(history, ask);
            bool anything_new = false;
            for (const Proposal& proposal : proposals) {
                if (!has_time()) return true;
                anything_new = try_route(builder, proposal.route.text()) || anything_new;
            }
            if (!anything_new) return false;
        }
        return true;
    }

    double batch_cost() const {
        const int heat = arena_.heat_size();
        return heat * trial_s_ + arena_.expected_seconds(static_cast<size_t>(heat), Purpose::screen);
    }

    // False when the study has a trial of the route already.
    bool try_route(const std::string& builder, const std::string& route) {
        if (trials_.find(builder, route) != nullptr) return false;
        const double begin = session_.budget.spent();
        const Trial trial = trials_.run(builder, route);
        constexpr double weight = 0.2;  // of the newest trial in the running mean
        trial_s_ += weight * (session_.budget.spent() - begin - trial_s_);
        if (trial.outcome == Outcome::built) fresh_.push_back(trial.fingerprint);
        show();
        return true;
    }

    // Look into an engine that was just visited and passed, where its sites may teach more than its total.
    void profile(const std::string& fingerprint) {
        const EngineRecord& engine = *session_.study.find(fingerprint);
        const Arm& arm = session_.arm(engine.builder);
        const bool known = !engine.sites.empty() || engine.gate != Outcome::built;
        if (known || engine.builder != session_.study.find(arena_.reference())->builder ||
            !worth_profiling(Route::parse(engine.route, arm.knobs.registry()), arm.knobs.registry()))
            return;
        try {
            session_.study.record_sites(
                fingerprint, profile_sites(session_, *arm.workshop, session_.study.engine_path(arena_.reference()),
                                           session_.study.engine_path(fingerprint)));
        } catch (const WorkerError& error) {
            if (error.failure() == Failure::interrupted) throw;
            session_.study.record_note("engine " + fingerprint + " could not be profiled: " + error.what());
        }
    }

    void visit_fresh() {
        while (!fresh_.empty() &&
               session_.budget.left_for_search() > arena_.expected_seconds(fresh_.size(), Purpose::screen)) {
            const size_t size = std::min(fresh_.size(), static_cast<size_t>(arena_.heat_size()));
            std::vector<std::string> heat(fresh_.begin(), fresh_.begin() + static_cast<std::ptrdiff_t>(size));
            fresh_.erase(fresh_.begin(), fresh_.begin() + static_cast<std::ptrdiff_t>(size));
            add_leaders(heat);
            arena_.visit(heat, Purpose::screen);
            for (const std::string& fingerprint : heat)
                if (has_time()) profile(fingerprint);
            show();
        }
        delete_losers();
        session_.budget.reserve(decider_.reserve());
    }

    // Places that new engines leave free go to the leaders, the least visited first: their lead may be luck.
    void add_leaders(std::vector<std::string>& heat) {
        std::vector<std::string> leaders = ranked();
        leaders.resize(std::min<size_t>(leaders.size(), 3));
        std::stable_sort(leaders.begin(), leaders.end(), [this](const std::string& a, const std::string& b) {
            return session_.study.find(a)->screen.size() < session_.study.find(b)->screen.size();
        });
        for (const std::string& leader : leaders)
            if (static_cast<int>(heat.size()) < arena_.heat_size() && trials_.ensure_engine(leader))
                heat.push_back(leader);
    }

    // Measured engines inside the tolerance, fastest first.
    std::vector<std::string> ranked() const {
        std::vector<std::pair<double, std::string>> engines;
        for (const auto& [fingerprint, engine] : session_.study.engines())
            if (engine.passed && !engine.screen.empty())
                engines.emplace_back(-arena_.selection_estimate(engine), fingerprint);
        std::sort(engines.begin(), engines.end());
        std::vector<std::string> names;
        for (auto& [slowness, fingerprint] : engines) names.push_back(std::move(fingerprint));
        return names;
    }

    void delete_losers() {
        const std::vector<std::string> engines = ranked();
        for (size_t i = kept_engines; i < engines.size(); ++i)
            if (engines[i] != arena_.reference()) trials_.delete_engine(engines[i]);
    }

    std::vector<Observation> observations(size_t index) const {
        const Arm& arm = session_.arms[index];
        const double visit_error = std::max(least_visit_error, arena_.control().spread);
        std::vector<Observation> history;
        for (const Trial& trial : session_.study.trials()) {
            if (trial.builder != arm.workshop->builder()) continue;
            // Only a default route is ever tried again; what became of it last counts.
            if (trial.route.empty() && &trial != trials_.find(trial.builder, trial.route)) continue;
            Observation seen;
            seen.route = Route::parse(trial.route, arm.knobs.registry());
            seen.fate = fate_of(trial.outcome);
            // Of a builder that does not repeat itself, equal engines say nothing about the routes that gave them.
            seen.fingerprint = trials_.repeats(trial.builder) ? trial.fingerprint : std::to_string(trial.id);
            const EngineRecord* engine = session_.study.find(trial.fingerprint);
            if (engine != nullptr && engine->gate != Outcome::built) seen.fate = fate_of(engine->gate);
            if (engine != nullptr) seen.sites = engine->sites;
            if (trial.fingerprint == arena_.reference()) {
                seen.log_speedup = 0;
                seen.standard_error = 0;
            } else if (engine != nullptr && engine->passed) {
                const double estimate = arena_.selection_estimate(*engine);
                if (std::isfinite(estimate)) seen.log_speedup = estimate;
                seen.standard_error =
                    visit_error / std::sqrt(std::max<double>(1, static_cast<double>(engine->screen.size())));
            }
            history.push_back(std::move(seen));
        }
        return history;
    }

    void show() {
        const std::vector<std::string> engines = ranked();
        const double best = engines.empty() ? 0 : arena_.selection_estimate(*session_.study.find(engines.front()));
        session_.progress.update(static_cast<int>(session_.study.trials().size()),
                                 static_cast<int>(session_.study.engines().size()), std::exp(std::max(0.0, best)));
    }

    Session& session_;
    Arena& arena_;
    Trials& trials_;
    const Decider& decider_;
    std::vector<std::unique_ptr<Strategy>> strategies_;
    std::vector<std::string> fresh_;  // engines that passed the gate and wait for their first visit
    double trial_s_ = first_trial_s;  // running mean
};

}  // namespace

bool explore(Session& session, Arena& arena, Trials& trials, const Decider& decider) {
    return Explorer(session, arena, trials, decider).run();
}

}  // namespace headway
