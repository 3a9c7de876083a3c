#include "tuner/tune.h"

#include <algorithm>

#include "base/error.h"
#include "tuner/deliver.h"
#include "tuner/explore.h"
#include "tuner/report.h"

namespace headway {
namespace {

constexpr double least_search_share = 0.1;  // of the budget: less is not worth another search
constexpr double repeat_share = 0.02;       // of the budget: most that a second build of the default may take

// The default route of each builder; the first one's engine is the reference of the study and must exist.
std::string build_defaults(Session& session, Trials& trials) {
    session.progress.phase("building the default engine");
    std::string reference;
    for (const Arm& arm : session.arms) {
        const std::string& builder = arm.workshop->builder();
        const Trial* known = trials.find(builder, "");
        Trial trial = known != nullptr ? *known : trials.run(builder, "");
        // Without its default a builder has nothing to compare with; what killed its worker may be gone.
        if (trial.outcome == Outcome::crashed || trial.outcome == Outcome::out_of_memory)
            trial = trials.run(builder, "");
        const bool is_cheap = trials.longest_build_s() < session.budget.seconds() * repeat_share;
        if (!trial.fingerprint.empty() && is_cheap) trials.check_repeats(builder, trial.fingerprint);
        if (reference.empty() && trial.fingerprint.empty())
            throw UserError(session.options.model.model + ": " + std::string(to_string(trial.outcome)) + ": " +
                            trial.reason);
        if (reference.empty()) reference = trial.fingerprint;
    }
    return reference;
}

Ruling unfit_default(const Session& session, const std::string& reference) {
    Ruling ruling;
    ruling.finding = Finding::unfit;
    for (const Trial& trial : session.study.trials())
        if (trial.fingerprint == reference) ruling.detail = "the default engine itself is out: " + trial.reason;
    return ruling;
}

// Interrupted or not, what comes back is a ruling that can be delivered.
Ruling search_and_decide(Session& session, Arena& arena, Trials& trials) {
    Decider decider(session, arena, trials);
    try {
        arena.run_control();
        session.budget.reserve(decider.reserve());
        for (;;) {
            const bool more = arena.control().fit && explore(session, arena, trials, decider);
            const Ruling ruling = decider.decide();
            // What was kept back for a claim that nobody is there to make goes to the search, half of it each time.
            const double left = session.budget.left(), least = decider.least_reserve();
            if (!more || ruling.why != Why::no_contender ||
                left < least + least_search_share * session.budget.seconds())
                return ruling;
            decider.limit_reserve(std::max(left / 2, least));
            session.budget.reserve(decider.reserve());
        }
    } catch (const WorkerError& error) {
        if (error.failure() != Failure::interrupted) throw;
    } catch (const VisitorFailed& error) {
        if (error.failure() != Failure::interrupted)
            throw UserError(std::string("the default engine cannot be measured: ") + error.what());
    }
    Ruling stopped;
    stopped.why = Why::budget;
    return stopped;
}

}  // namespace

TuneResult tune(const TuneOptions& options) {
    Session session(options);
    Trials trials(session);
    const std::string reference = build_defaults(session, trials);
    if (!session.study.find(reference)->passed) trials.finish_gate(reference);
    // From here on there is something to deliver, so the user's Ctrl-C may cut requests short.
    session.has_deliverable(session.study.find(reference)->bytes);
    for (Arm& arm : session.arms) arm.workshop->set_stop(options.stop);
    const bool usable = session.study.find(reference)->passed;
    Arena arena(session, reference);
    const Ruling ruling = usable ? search_and_decide(session, arena, trials) : unfit_default(session, reference);
    const TuneResult result = deliver(session, usable ? &arena : nullptr, trials, ruling, reference);
    write_report(session.study);
    return result;
}

}  // namespace headway
