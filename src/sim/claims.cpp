#include "sim/claims.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <thread>

#include "base/error.h"

namespace headway {
namespace {

constexpr double slightly_slower = 0.006, much_slower = 0.05;

struct Outcome {
    ProtocolRun run;
    double best = 0;  // true gain of the best candidate, or of the default
};

Outcome run_one(const ClaimsOptions& options, int index) {
    Rng seeds(options.seed * 1'000'003 + static_cast<uint64_t>(index));
    const std::vector<double> gains = true_gains(options.truth, options.candidates, options.gain, seeds);
    VisitWorld world(options.noise, seeds.next());
    Outcome outcome;
    for (const double gain : gains) outcome.best = std::max(outcome.best, gain);
    outcome.run = run_protocol(world, gains, options.rules, seeds.next());
    return outcome;
}

ClaimsSummary summarise(std::span<const Outcome> outcomes) {
    ClaimsSummary summary;
    const auto runs = static_cast<int>(outcomes.size());
    summary.unfit.trials = summary.unstable.trials = summary.claims.trials = summary.false_claims.trials = runs;
    std::vector<double> race_errors, report_errors;
    for (const auto& [run, best] : outcomes) {
        summary.unfit.hits += run.finding == Finding::unfit;
        summary.unstable.hits += run.finding == Finding::unstable;
        summary.regret += (best - run.true_gain) / runs;
        summary.margin += run.margin / runs;
        summary.blocks += static_cast<double>(run.blocks) / runs;
        if (run.finding != Finding::faster) continue;
        ++summary.claims.hits;
        summary.false_claims.hits += run.true_gain <= run.margin;
        ++summary.covered.trials;
        const double truth = std::exp(run.true_gain);
        summary.covered.hits += run.speedup.low <= truth && truth <= run.speedup.high;
        race_errors.push_back(run.race_estimate - run.true_gain);
        report_errors.push_back(std::log(run.speedup.center) - run.true_gain);
        summary.claim_visits += run.claim_visits;
    }
    if (race_errors.empty()) return summary;
    summary.race_bias = mean(race_errors);
    summary.report_bias = mean(report_errors);
    summary.report_bias_error = standard_error(report_errors);
    summary.claim_visits /= summary.claims.hits;
    return summary;
}

}  // namespace

std::string_view to_string(Truth truth) {
    switch (truth) {
        case Truth::identical:
            return "identical";
        case Truth::slower:
            return "slower";
        case Truth::mixed:
            return "mixed";
        case Truth::one:
            return "one";
    }
    return "identical";
}

Truth truth_from_string(const std::string& word) {
    for (const Truth truth : {Truth::identical, Truth::slower, Truth::mixed, Truth::one})
        if (word == to_string(truth)) return truth;
    throw UserError("no truth '" + word + "'; there are identical, slower, mixed, one");
}

std::vector<double> true_gains(Truth truth, int candidates, double gain, Rng& rng) {
    std::vector<double> gains(static_cast<size_t>(candidates), 0.0);
    if (truth == Truth::slower)
        for (double& value : gains) value = -slightly_slower * rng.unit();
    if (truth == Truth::mixed)
        for (size_t i = 0; i < gains.size(); ++i) {
            if (i * 10 < gains.size())
                gains[i] = gain * (0.5 + rng.unit());
            else if (i * 100 >= gains.size() * 65)
                gains[i] = -much_slower * rng.unit();
        }
    if (truth == Truth::one && !gains.empty()) gains[rng.below(gains.size())] = gain;
    return gains;
}

ClaimsSummary run_claims(const ClaimsOptions& options) {
    std::vector<Outcome> outcomes(static_cast<size_t>(options.runs));
    std::atomic<int> next = 0;
    const auto work = [&] {
        for (int index = next++; index < options.runs; index = next++)
            outcomes[static_cast<size_t>(index)] = run_one(options, index);
    };
    std::vector<std::thread> threads;
    for (int i = 1; i < options.threads; ++i) threads.emplace_back(work);
    work();
    for (std::thread& thread : threads) thread.join();
    return summarise(outcomes);
}

}  // namespace headway
