#include "tuner/bench.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/text.h"
#include "measure/machine_facts.h"

namespace headway {
namespace {

// Milliseconds of one call in each block that counts.
void collect_times(const VisitRecord& visit, std::vector<std::vector<double>>& call_ms) {
    for (size_t round = 0; round < visit.rounds.size(); ++round) {
        if (!visit.drops[round].empty() && visit.dropped() < static_cast<int>(visit.rounds.size())) continue;
        for (size_t k = 0; k < call_ms.size(); ++k)
            call_ms[k].push_back(static_cast<double>(visit.rounds[round][k]) / static_cast<double>(visit.iterations) /
                                 1e6);
    }
}

// Without its figure: "run-queue delay of 3.0 % of a block" -> "run-queue delay".
std::string guard_name(const std::string& reason) {
    std::string name(trimmed(reason.substr(0, reason.find_first_of("0123456789"))));
    for (const std::string_view word : {" of", " for"})
        if (name.ends_with(word)) name.resize(name.size() - word.size());
    return name;
}

Comparison compare(const std::vector<double>& values, double margin, bool unstable, bool tied) {
    Comparison comparison = compare_fixed(values, margin);
    if (tied && comparison.finding == Finding::no_gain) comparison.why = Why::clock;
    if (unstable) {
        comparison.finding = Finding::unstable;
        comparison.why = Why::dropped;
    }
    return comparison;
}

}  // namespace

BenchResult bench(const std::vector<BenchOperand>& operands, const BenchOptions& options) {
    Budget budget(no_limit_s, seconds_now, options.stop);
    VisitsOptions visits_options;
    visits_options.guards = options.guards;
    visits_options.rules = options.rules;
    VisitRunner runner(visits_options, budget, options.seed);
    std::vector<Visitor> visitors;
    for (const BenchOperand& operand : operands) visitors.push_back({operand.name, operand.engine, operand.workshop});
    VisitPlan plan;
    plan.purpose = Purpose::report;
    plan.rounds = options.rounds;
    plan.scenario = options.scenario;

    BenchResult result;
    std::vector<std::vector<double>> call_ms(operands.size()), values(operands.size());
    std::vector<int> tied(operands.size(), 0);  // rounds in which an operand took as long as the first, to the tick
    try {
        for (const Visitor& visitor : visitors)
            plan.warmup_iterations =
                std::max(plan.warmup_iterations, runner.measure_warmup(visitor, options.scenario, 5));
        for (int k = 0; k < options.visits && !budget.stopped(); ++k) {
            const VisitRecord visit = runner.run(visitors, plan);
            collect_times(visit, call_ms);
            const std::vector<double> faster = visit_values(visit);
            // The visit's reference is the first operand, whose speed-up over another is that one's loss against it.
            for (size_t i = 0; i < faster.size(); ++i) values[i + 1].push_back(-faster[i]);
            for (size_t i = 1; i < operands.size(); ++i) tied[i] += tied_rounds(visit.rounds, static_cast<int>(i));
            for (const std::string& reason : visit.drops)
                if (!reason.empty()) ++result.guards.fired[guard_name(reason)];
        }
    } catch (const VisitorFailed& failure) {
        throw UserError(operands[failure.index()].name + ": " + std::string(to_string(failure.failure())) + ": " +
                        failure.what());
    }
    result.guards.rounds = runner.rounds_run();
    result.guards.dropped = runner.rounds_dropped();
    result.guards.most_steal = runner.most_steal();
    result.guards.missing = runner.missing_guards();
    for (size_t k = 0; k < operands.size(); ++k)
        if (!call_ms[k].empty())
            result.engines.push_back(summarise_times(operands[k].name, call_ms[k], options.scenario));
    result.scenario = options.scenario.text();
    const bool unstable = too_many_dropped(result.guards.dropped, result.guards.rounds);
    for (size_t k = 1; k < operands.size(); ++k)
        result.comparisons.push_back(
            {operands[0].name, operands[k].name,
             compare(values[k], options.margin, unstable, too_many_tied(tied[k], result.guards.rounds)), values[k]});
    result.machine_json = machine_json(read_machine_facts());
    return result;
}

}  // namespace headway
