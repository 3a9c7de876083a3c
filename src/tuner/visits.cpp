#include "tuner/visits.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <thread>

#include "base/error.h"
#include "base/text.h"
#include "measure/clock.h"
#include "measure/statistics.h"
#include "measure/visit.h"

namespace headway {
namespace {

constexpr int64_t most_environment_padding = 4096;
constexpr int64_t most_heap_padding = int64_t{1} << 20;
constexpr double start_deadline_s = 60;
// A block that takes this many times its expected duration is taken for a hang.
constexpr double hang_factor = 20;
constexpr double least_deadline_s = 5;

class WorkerBlocks final : public BlockRunner {
public:
    WorkerBlocks(const std::vector<Visitor>& visitors, std::vector<std::unique_ptr<WorkerClient>>& workers,
                 const Scenario& scenario, double deadline_s)
        : visitors_(visitors), workers_(workers), scenario_(scenario), deadline_s_(deadline_s) {}

    void set_deadline(double seconds) { deadline_s_ = seconds; }
    // Is told what blocks lose from now on.
    void set_guard(HostGuard* guard) { guard_ = guard; }

    int64_t block_ns(int engine, int64_t iterations, int64_t preroll) override {
        BlockRequest request{.iterations = iterations, .preroll = preroll};
        request.cold = scenario_.kind == Scenario::Kind::cold;
        request.per_iteration = scenario_.kind == Scenario::Kind::tail;
        const BlockTimes times = block(static_cast<size_t>(engine), request);
        if (guard_ != nullptr && times.lost_ns >= 0 && !request.cold)
            guard_->block_lost(times.lost_ns, std::accumulate(times.ns.begin(), times.ns.end(), int64_t{0}));
        return request.per_iteration ? tail_bound_ns(times.ns, scenario_.percentile / 100) * iterations
                                     : times.ns.front();
    }

    // Nanoseconds of one of `iterations` in a row, whatever the scenario.
    double warm_ns(size_t index, int64_t iterations) {
        return static_cast<double>(block(index, {.iterations = iterations}).ns.front()) /
               static_cast<double>(iterations);
    }

private:
    BlockTimes block(size_t index, BlockRequest request) {
        request.streams = scenario_.streams;
        try {
            return workers_[index]->block(visitors_[index].path, request, deadline_s_);
        } catch (const WorkerError& error) {
            throw VisitorFailed(index, error.failure(), error.what());
        }
    }

    const std::vector<Visitor>& visitors_;
    std::vector<std::unique_ptr<WorkerClient>>& workers_;
    const Scenario& scenario_;
    double deadline_s_;
    HostGuard* guard_ = nullptr;
};

double start_deadline(const Budget& budget) {
    return std::max(least_deadline_s, std::min(start_deadline_s, budget.left()));
}

double seconds_since(int64_t begin_ns) { return 1e-9 * static_cast<double>(clock_ns() - begin_ns); }

}  // namespace

VisitRunner::VisitRunner(VisitsOptions options, Budget& budget, uint64_t seed)
    : options_(std::move(options)), budget_(budget), rng_(seed), patience_s_(options_.quiet_wait_s) {
    if (options_.rules) rules_ = *options_.rules;
}

std::vector<double> visit_values(const VisitRecord& visit) {
    std::vector<RoundTimes> rounds;
    for (size_t round = 0; round < visit.rounds.size(); ++round)
        if (visit.drops[round].empty()) rounds.push_back(visit.rounds[round]);
    if (rounds.empty()) rounds = visit.rounds;
    std::vector<double> values;
    for (size_t i = 1; i < visit.engines.size(); ++i) values.push_back(visit_value(rounds, static_cast<int>(i)));
    return values;
}

double VisitRunner::expected_seconds(size_t engines, const VisitPlan& plan) const {
    return static_cast<double>(engines) *
           (cost(plan.purpose).per_engine_s + plan.rounds * cost(plan.purpose).per_block_s);
}

std::unique_ptr<WorkerClient> VisitRunner::start(size_t index, const Visitor& visitor, const Scenario& scenario) {
    const auto environment = static_cast<int64_t>(rng_.below(most_environment_padding));
    const auto heap = static_cast<int64_t>(rng_.below(most_heap_padding));
    const double deadline = start_deadline(budget_);
    try {
        auto worker = visitor.workshop->start(deadline, environment, heap);
        worker->load(visitor.path, scenario.streams, deadline);
        return worker;
    } catch (const WorkerError& error) {
        throw VisitorFailed(index, error.failure(), error.what());
    }
}

// What a busy machine costs is limited over the whole session: it may never become quiet.
void VisitRunner::wait_for_quiet() {
    const int64_t begin = clock_ns();
    const double most_s = std::min(patience_s_, budget_.left() / 100);
    while (!is_quiet(signals_.load()) && seconds_since(begin) < most_s)
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    patience_s_ -= std::min(patience_s_, seconds_since(begin));
}

std::optional<MachineLock> VisitRunner::lock_machine(std::string_view purpose) const {
    constexpr double most_wait_s = 30, most_wait_share = 0.1;
    if (!options_.guards) return std::nullopt;
    try {
        return MachineLock::acquire(purpose, std::min(most_wait_s, budget_.left() * most_wait_share));
    } catch (const UserError&) {
        return std::nullopt;
    }
}

void VisitRunner::fit_guards() {
    if (!options_.rules && readings_.size() >= rounds_before_fitting) rules_ = fitted_rules(readings_);
}

VisitRecord VisitRunner::run(const std::vector<Visitor>& visitors, const VisitPlan& plan) {
    HEADWAY_CHECK(!visitors.empty());
    const std::optional<MachineLock> lock = lock_machine(std::string(to_string(plan.purpose)) + " visit");
    const int64_t begin = clock_ns();
    std::vector<std::unique_ptr<WorkerClient>> workers(visitors.size());
    std::vector<size_t> order(visitors.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    rng_.shuffle(std::span(order));
    for (const size_t i : order) workers[i] = start(i, visitors[i], plan.scenario);

    WorkerBlocks blocks(visitors, workers, plan.scenario, start_deadline(budget_));
    std::vector<double> iteration_ns;
    for (size_t i = 0; i < visitors.size(); ++i) iteration_ns.push_back(blocks.warm_ns(i, plan.warmup_iterations));
    const BlockPlan block_plan =
        fitted_to(plan.scenario, plan_blocks(iteration_ns, clock_resolution_ns(), plan.blocks));
    const double slowest_s = 1e-9 * *std::max_element(iteration_ns.begin(), iteration_ns.end());
    const auto iterations = static_cast<double>(block_plan.iterations + block_plan.preroll);
    blocks.set_deadline(std::max(least_deadline_s, hang_factor * slowest_s * iterations));

    std::vector<int> pids;
    for (const auto& worker : workers) pids.push_back(worker->pid());
    HostGuard guard(signals_, canaries_, pids, rules_);
    if (options_.guards) {
        wait_for_quiet();
        blocks.set_guard(&guard);
    }
    const double start_s = seconds_since(begin);
    const HostCounters before = signals_.counters({});
    const Visit visit = run_visit(static_cast<int>(visitors.size()), plan.rounds, block_plan, blocks,
                                  options_.guards ? &guard : nullptr, rng_);
    const auto engines = static_cast<double>(visitors.size());
    cost_[selects(plan.purpose)] = {start_s / engines, (seconds_since(begin) - start_s) / (engines * plan.rounds)};
    rounds_run_ += plan.rounds;
    readings_.insert(readings_.end(), guard.readings().begin(), guard.readings().end());
    fit_guards();

    VisitRecord record;
    record.purpose = plan.purpose;
    record.readings = guard.readings();
    record.iterations = block_plan.iterations;
    record.rounds = visit.rounds;
    record.orders = visit.orders;
    for (const auto& drop : visit.drops) record.drops.push_back(drop.value_or(""));
    // Its ticks are too coarse for a round, so that a visit stands or falls as a whole.
    const double steal = steal_share(before, signals_.counters({}));
    if (options_.guards && steal > rules_.most_steal)
        for (std::string& drop : record.drops)
            if (drop.empty()) drop = "steal of " + percent(steal) + " of the CPU time";
    most_steal_ = std::max(most_steal_, steal);
    rounds_dropped_ += record.dropped();
    for (const Visitor& visitor : visitors) record.engines.push_back(visitor.name);
    record.values = visit_values(record);
    return record;
}

int64_t VisitRunner::measure_warmup(const Visitor& visitor, const Scenario& scenario, double most_seconds) {
    WarmupRules rules;
    rules.most_ns = std::min(rules.most_ns, static_cast<int64_t>(most_seconds * 1e9));
    rules.least_ns = std::min(rules.least_ns, rules.most_ns);
    Warmup warmup(rules);
    const BlockRequest request{.streams = scenario.streams};
    const auto worker = start(0, visitor, scenario);
    try {
        while (!warmup.finished()) warmup.record(worker->block(visitor.path, request, start_deadline_s).ns.front());
    } catch (const WorkerError& error) {
        throw VisitorFailed(0, error.failure(), error.what());
    }
    return warmup.iterations();
}

}  // namespace headway
