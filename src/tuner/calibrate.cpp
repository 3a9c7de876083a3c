#include "tuner/calibrate.h"

#include <algorithm>

#include "base/error.h"
#include "base/file.h"
#include "measure/statistics.h"

namespace headway {
namespace {

constexpr double most_warmup_s = 5;

}  // namespace

CalibrateOptions quick_calibration() {
    CalibrateOptions options;
    options.visits = 4;
    options.rounds = 5;
    return options;
}

MachineProfile calibrate(const BenchOperand& subject, const std::string& copy, const CalibrateOptions& options) {
    write_file_atomically(copy, read_file(subject.engine));
    Budget budget(no_limit_s, seconds_now, options.stop);
    VisitRunner runner({}, budget, options.seed);
    const std::vector<Visitor> visitors{{subject.name, subject.engine, subject.workshop},
                                        {"copy", copy, subject.workshop}};
    VisitPlan plan;
    plan.purpose = Purpose::control;
    plan.rounds = options.rounds;
    std::vector<ControlVisit> visits;
    std::vector<double> iteration_ms;
    try {
        plan.warmup_iterations =
            std::max(plan.warmup_iterations, runner.measure_warmup(visitors.front(), plan.scenario, most_warmup_s));
        for (int k = 0; k < options.visits && !budget.stopped(); ++k) {
            const VisitRecord visit = runner.run(visitors, plan);
            visits.push_back({visit.rounds, visit.orders});
            for (const RoundTimes& round : visit.rounds)
                iteration_ms.push_back(static_cast<double>(round.front()) / static_cast<double>(visit.iterations) /
                                       1e6);
            if (options.progress) options.progress(k + 1, options.visits);
        }
    } catch (const VisitorFailed& failure) {
        throw UserError(subject.name + ": " + std::string(to_string(failure.failure())) + ": " + failure.what());
    }
    if (visits.size() < 2) throw UserError("stopped before there were two visits: nothing is known about this machine");
    MachineProfile profile = profile_of(visits, runner.readings());
    profile.subject = subject.name;
    profile.iteration_ms = median(iteration_ms);
    profile.load_s = runner.cost(plan.purpose).per_engine_s;
    profile.block_s = runner.cost(plan.purpose).per_block_s;
    profile.missing_guards = runner.missing_guards();
    return profile;
}

}  // namespace headway
