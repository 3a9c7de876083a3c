#include "tuner/arena.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>

#include "base/error.h"
#include "base/file.h"
#include "measure/statistics.h"

namespace headway {
namespace {

namespace fs = std::filesystem;

constexpr const char* clone_name = "clone";
constexpr int most_control_visits = 12;
constexpr int least_control_visits = 4;
constexpr double control_share = 0.1;       // of the budget
constexpr double most_control_share = 0.3;  // of the budget: beyond it a control is not repeated
constexpr double warmup_share = 0.02;       // of the budget
// Selection only chooses whom to confirm: shorter blocks and warm-ups leave time for more candidates.
constexpr int selection_rounds = 2;
constexpr BlockRules selection_blocks{5'000'000, 20'000'000, 250'000'000};
constexpr int64_t selection_warmup_ns = 50'000'000;
constexpr int most_heat_size = 4;
// Memory of a loaded engine, as a multiple of its file: constants, arena, the copy while loading.
constexpr int64_t memory_factor = 4;

// Bytes that new processes may take; 1 GiB where the system does not say.
int64_t available_memory() {
    std::ifstream file("/proc/meminfo");
    std::string field, unit;
    for (int64_t kib = 0; file >> field >> kib; std::getline(file, unit))
        if (field == "MemAvailable:") return kib << 10;
    return int64_t{1} << 30;
}

// In a row. The default engine passed the gate, so that a failure is most likely someone else's doing: once more.
constexpr int most_reference_failures = 6;

}  // namespace

template <class Measure>
auto Arena::patiently(Measure measure) {
    for (;;) {
        try {
            const auto result = measure();
            reference_failures_ = 0;
            return result;
        } catch (const VisitorFailed& error) {
            if (error.failure() == Failure::interrupted || ++reference_failures_ > most_reference_failures) throw;
        }
    }
}

Arena::Arena(Session& session, std::string reference) : session_(session), reference_(std::move(reference)) {
    if (session.options.profile) confirm_rounds_ = session.options.profile->best_rounds();
}

VisitPlan Arena::plan(Purpose purpose) const {
    VisitPlan plan;
    plan.purpose = purpose;
    plan.scenario = session_.options.scenario;
    plan.rounds = selects(purpose) ? selection_rounds : confirm_rounds_;
    plan.warmup_iterations = selects(purpose) ? short_warmup_ : warmup_;
    if (selects(purpose)) plan.blocks = selection_blocks;
    return plan;
}

Visitor Arena::visitor(const std::string& fingerprint) const {
    if (fingerprint == clone_name)
        return {fingerprint, session_.scratch() + "/clone.hwe", visitor(reference_).workshop};
    const EngineRecord* engine = session_.study.find(fingerprint);
    HEADWAY_CHECK(engine != nullptr);
    return {fingerprint, session_.study.engine_path(fingerprint), session_.arm(engine->builder).workshop.get()};
}

double Arena::expected_seconds(size_t candidates, Purpose purpose) const {
    return session_.visits.expected_seconds(candidates + 1, plan(purpose));
}

void Arena::run_control() {
    session_.progress.phase("measuring the default engine against its copy");
    write_file_atomically(visitor(clone_name).path, read_file(visitor(reference_).path));
    warmup_ = patiently([&] {
        return session_.visits.measure_warmup(visitor(reference_), session_.options.scenario,
                                              session_.budget.seconds() * warmup_share);
    });
    std::vector<ControlVisit> visits = control_visits();
    // One control in a hundred fails by chance: a second one, judged by itself, tells chance from an unfit machine.
    if (!control_.fit && session_.budget.spent() < most_control_share * session_.budget.seconds()) {
        session_.study.record_note("the default engine differed from its copy; the control was repeated");
        visits = control_visits();
    }
    const GuardRules& rules = session_.visits.rules();
    if (rules.most_run_delay > GuardRules{}.most_run_delay || rules.most_clock_change > GuardRules{}.most_clock_change)
        session_.study.record_note(fmt::format(
            "this machine is not quiet: rounds count in which threads wait for a CPU up to {:.0f} % of a block and "
            "the clock wanders up to {:.0f} %",
            100 * rules.most_run_delay, 100 * rules.most_clock_change));
    learn(visits);
}

std::vector<ControlVisit> Arena::control_visits() {
    std::vector<double> values;
    std::vector<ControlVisit> visits;
    const double begin = session_.budget.spent();
    while (static_cast<int>(values.size()) < most_control_visits) {
        const bool enough = static_cast<int>(values.size()) >= least_control_visits;
        if (enough && session_.budget.spent() - begin > session_.budget.seconds() * control_share) break;
        const VisitRecord record = patiently([&] {
            return session_.visits.run({visitor(reference_), visitor(clone_name)}, plan(Purpose::control));
        });
        session_.study.record_visit(record);
        values.push_back(record.values.front());
        visits.push_back({record.rounds, record.orders});
        std::vector<double> block_ns;
        for (const auto& round : record.rounds) block_ns.push_back(static_cast<double>(round.front()));
        iteration_ns_ = median(block_ns) / static_cast<double>(record.iterations);
        short_warmup_ =
            std::max<int64_t>(3, std::min<int64_t>(warmup_, static_cast<int64_t>(selection_warmup_ns / iteration_ns_)));
    }
    control_ = judge_control(values);
    return visits;
}

// More visits tell more than more rounds: a claim needs so many of them that a part of the budget must hold.
int Arena::affordable_rounds(const VisitCost& cost) const {
    constexpr double claim_share = 0.4, claim_visits = 32, engines = 2;
    constexpr double fewest = 2, most = 100;
    const double engine_s = session_.budget.seconds() * claim_share / claim_visits / engines;
    return static_cast<int>(std::clamp((engine_s - cost.per_engine_s) / cost.per_block_s, fewest, most));
}

// The best number of rounds for this engine; and, on a machine that was never calibrated, what others may use as well.
void Arena::learn(const std::vector<ControlVisit>& visits) {
    MachineProfile profile = profile_of(visits, session_.visits.readings());
    const VisitCost cost = session_.visits.cost(Purpose::control);
    profile.load_s = cost.per_engine_s;
    profile.block_s = cost.per_block_s;
    confirm_rounds_ = std::min(profile.best_rounds(), affordable_rounds(cost));
    if (session_.options.profile || !session_.options.guards) return;
    profile.subject = fs::path(session_.options.model.model).filename().string();
    profile.iteration_ms = iteration_ns_ / 1e6;
    profile.threads = session_.options.model.threads;
    profile.missing_guards = session_.visits.missing_guards();
    store_profile(profile);
}

std::vector<std::string> Arena::visit(const std::vector<std::string>& engines, Purpose purpose) {
    std::vector<std::string> racing = engines, failed;
    while (!racing.empty()) {
        std::vector<Visitor> visitors{visitor(reference_)};
        for (const std::string& engine : racing) visitors.push_back(visitor(engine));
        try {
            session_.study.record_visit(session_.visits.run(visitors, plan(purpose)));
            reference_failures_ = 0;
            break;
        } catch (const VisitorFailed& error) {
            if (error.failure() == Failure::interrupted) throw WorkerError(error.failure(), error.what());
            if (error.index() == 0) {
                if (++reference_failures_ > most_reference_failures)
                    throw UserError(std::string("the default engine failed while it was measured: ") + error.what());
                continue;
            }
            const std::string out = racing[error.index() - 1];
            session_.study.record_gate(out, outcome_of(error.failure()), 0,
                                       std::string("while measured: ") + error.what(), "{}");
            failed.push_back(out);
            racing.erase(racing.begin() + static_cast<std::ptrdiff_t>(error.index()) - 1);
        }
    }
    return failed;
}

int Arena::heat_size() const {
    const int64_t bytes = std::max<int64_t>(1, session_.study.find(reference_)->bytes);
    const int64_t fitting = available_memory() / 2 / (bytes * memory_factor) - 1;
    return static_cast<int>(std::clamp<int64_t>(fitting, 1, most_heat_size));
}

double Arena::selection_estimate(const EngineRecord& engine) const {
    std::vector<double> values;
    for (const auto& [fingerprint, other] : session_.study.engines())
        if (other.timing_key == engine.timing_key)
            values.insert(values.end(), other.screen.begin(), other.screen.end());
    return values.empty() ? std::numeric_limits<double>::quiet_NaN() : mean(values);
}

}  // namespace headway
