#include "sim/protocol.h"

#include <vector>

#include "measure/components.h"
#include "measure/finalists.h"
#include "measure/judge.h"

namespace headway {
namespace {

constexpr uint64_t most_knobs = 6;  // that a candidate sets, for the preference among ties

class Protocol {
public:
    Protocol(VisitWorld& world, std::span<const double> gains, const ProtocolRules& rules, uint64_t seed)
        : world_(world), gains_(gains), rules_(rules), seed_(seed) {}

    ProtocolRun run() {
        // One control in a hundred fails by chance, so a failed one is repeated once.
        if (!control() && !control()) {
            run_.finding = Finding::unfit;
            run_.why = Why::control;
            return run_;
        }
        const std::vector<Contender> survivors = race();
        const std::vector<int> finalists = choose_finalists(survivors, run_.margin);
        confirm(finalists);
        for (const Contender& survivor : survivors)
            if (survivor.candidate == run_.claimed) run_.race_estimate = mean(survivor.values);
        return run_;
    }

private:
    Visit visit(std::span<const double> gains, int rounds) {
        world_.rounds = rounds;
        Visit visit = world_.run(gains);
        run_.blocks += static_cast<int64_t>(visit.rounds.size() * (gains.size() + 1));
        return visit;
    }

    // Runs that many visits of one engine; their rounds, and the values they give.
    std::vector<std::vector<RoundTimes>> pair_visits(double gain, int visits, int rounds) {
        std::vector<std::vector<RoundTimes>> all;
        for (int i = 0; i < visits; ++i) all.push_back(VisitWorld::counted(visit(std::span(&gain, 1), rounds)));
        return all;
    }

    bool control() {
        std::vector<double> values;
        std::vector<std::vector<double>> ratios;
        for (const auto& rounds : pair_visits(0, rules_.control_visits, rules_.control_rounds)) {
            values.push_back(visit_value(rounds, 1));
            ratios.push_back(paired_log_ratios(rounds, 1));
        }
        const Control control = judge_control(values);
        run_.margin = rules_.margin.value_or(control.margin);
        confirm_rounds_ = best_rounds(variance_components(ratios), 2 * rules_.load_cost, 2 * rules_.block_cost);
        return control.fit;
    }

    std::vector<Contender> race() {
        Rng rng(seed_);
        Race race(static_cast<int>(gains_.size()), rules_.race, seed_);
        for (auto wave = race.next_wave(); !wave.empty(); wave = race.next_wave())
            for (const Heat& heat : wave) {
                std::vector<double> in_heat;
                for (const int candidate : heat) in_heat.push_back(gains_[static_cast<size_t>(candidate)]);
                const auto rounds = VisitWorld::counted(visit(in_heat, rules_.race_rounds));
                for (size_t i = 0; i < heat.size(); ++i)
                    race.record(heat[i], visit_value(rounds, static_cast<int>(i) + 1));
            }
        std::vector<Contender> survivors;
        for (const Standing& standing : race.standings())
            if (standing.in_race)
                survivors.push_back(
                    {standing.candidate, standing.values, 1 + static_cast<int>(rng.below(most_knobs)), 0, 0});
        return survivors;
    }

    void confirm(const std::vector<int>& finalists) {
        ConfirmRules rules = rules_.confirm;
        rules.margin = run_.margin;
        Confirm confirm(rules, static_cast<int>(finalists.size()), rules_.affordable, seed_);
        int rounds = 0, dropped = 0;
        while (const std::optional<int> finalist = confirm.next()) {
            const double gain = gains_[static_cast<size_t>(finalists[static_cast<size_t>(*finalist)])];
            const Visit sample = visit(std::span(&gain, 1), confirm_rounds_);
            rounds += static_cast<int>(sample.rounds.size());
            dropped += sample.dropped();
            confirm.record(visit_value(VisitWorld::counted(sample), 1));
            ++run_.confirm_visits;
        }
        const ConfirmOutcome& outcome = confirm.outcome();
        run_.finding = outcome.finding;
        run_.why = outcome.why;
        if (outcome.finding != Finding::faster) return;
        if (too_many_dropped(dropped, rounds)) {
            run_.finding = Finding::unstable;
            run_.why = Why::dropped;
            return;
        }
        const auto claimed = static_cast<size_t>(outcome.finalist);
        run_.claimed = finalists[claimed];
        run_.true_gain = gains_[static_cast<size_t>(run_.claimed)];
        run_.claim_visits = static_cast<int>(confirm.values()[claimed].size());
        std::vector<double> values;
        for (const auto& sample : pair_visits(run_.true_gain, rules_.report_visits, confirm_rounds_))
            values.push_back(visit_value(sample, 1));
        run_.speedup = speedup_interval(values);
    }

    VisitWorld& world_;
    std::span<const double> gains_;
    const ProtocolRules& rules_;
    uint64_t seed_;
    int confirm_rounds_ = 0;
    ProtocolRun run_;
};

}  // namespace

ProtocolRun run_protocol(VisitWorld& world, std::span<const double> gains, const ProtocolRules& rules, uint64_t seed) {
    return Protocol(world, gains, rules, seed).run();
}

}  // namespace headway
