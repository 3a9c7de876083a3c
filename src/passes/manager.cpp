#include "passes/manager.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <limits>

#include "base/error.h"
#include "base/file.h"
#include "graph/text.h"
#include "graph/verify.h"
#include "passes/rewrite.h"

namespace headway {
namespace {

// Each round of the rewrite phase opens patterns for the next; two passes that undo each other must not loop for ever.
constexpr int most_rounds = 12;

#ifdef NDEBUG
constexpr bool verifies = false;
#else
constexpr bool verifies = true;
#endif

Stage stage_of(Phase phase) { return phase == Phase::group ? Stage::grouped : Stage::bound; }

// Says where the graph before the failing pass can be found.
[[noreturn]] void fail_pass(const Graph& before, const Pass& pass, const Route& route, const InternalError& error) {
    std::string text = "# pass: " + std::string(pass.name()) + "\n# route: " + route.text() +
                       "\n# error: " + error.what() + "\n" + print_graph(before, std::numeric_limits<int64_t>::max());
    std::string path = std::filesystem::temp_directory_path().string() + "/headway-" + std::string(pass.name()) + "-" +
                       hash_text(text).hex().substr(0, 12) + ".txt";
    std::string where = "reproducer: " + path;
    try {
        write_file_atomically(path, text);
    } catch (const UserError& unwritten) {
        where = std::string("no reproducer: ") + unwritten.what();
    }
    throw InternalError("pass " + std::string(pass.name()) + ": " + error.what() + " (" + where + ")");
}

// Refusals of a round after which the graph changed are said again in the next.
void forget_refusals(std::vector<Decision>& decisions, size_t from) {
    const auto begin = decisions.begin() + static_cast<int64_t>(from);
    decisions.erase(std::remove_if(begin, decisions.end(), [](const Decision& d) { return !d.taken; }),
                    decisions.end());
}

const Pass& pass_named(std::string_view name, const PhasePlan& plan, const Registry<Pass>& passes) {
    const Pass* pass = passes.find(name);
    if (!pass) throw InternalError("the pipeline names an unknown pass " + std::string(name));
    HEADWAY_CHECK(pass->fields().phase == plan.phase);
    return *pass;
}

// Runs the pipeline from its start. The same graph and route take the same steps again, so that the graph before any
// step can be had from the one before all.
class PipelineRun {
public:
    PipelineRun(PassContext& context, const Registry<Pass>& passes, std::vector<PassTiming>* timings)
        : context_(context), passes_(passes), timings_(timings), start_(context.graph) {}

    // At most so many passes.
    void run(int64_t most) {
        most_ = most;
        for (const PhasePlan& plan : pipeline()) {
            for (int round = 0; round < (plan.repeated ? most_rounds : 1); ++round) {
                const size_t before = context_.decisions.size();
                if (!run_round(plan)) break;
                if (plan.repeated) forget_refusals(context_.decisions, before);
            }
        }
    }

private:
    bool run_round(const PhasePlan& plan) {
        bool changed = false;
        for (std::string_view name : plan.passes) {
            if (steps_ == most_) return false;
            const Pass& pass = pass_named(name, plan, passes_);
            const auto start = std::chrono::steady_clock::now();
            const bool now = run_pass(pass, context_, [&] { return graph_before_step(steps_); });
            const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
            if (timings_) timings_->push_back({std::string(name), seconds.count(), now});
            changed = changed || now;
            ++steps_;
        }
        return changed;
    }

    Graph graph_before_step(int64_t step) const {
        Graph graph = start_;
        std::vector<Decision> decisions;
        PassContext context{graph, context_.route, context_.target, context_.ops, decisions, {}};
        PipelineRun(context, passes_, nullptr).run(step);
        return graph;
    }

    PassContext& context_;
    const Registry<Pass>& passes_;
    std::vector<PassTiming>* timings_;
    const Graph start_;
    int64_t steps_ = 0, most_ = 0;
};

}  // namespace

bool run_pass(const Pass& pass, PassContext& context, const std::function<Graph()>& before) {
    const Knob<std::string_view>* enabled = pass.fields().enabled;
    if (enabled && enabled->scope() == Scope::graph && context.route.get(*enabled) == "off") return false;
    context.pass = pass.name();
    try {
        if (!pass.fields().run(context)) return false;
        erase_dead_nodes(context.graph);
        context.graph.compact();
        if (verifies) verify_graph(context.graph, stage_of(pass.fields().phase));
    } catch (const InternalError& error) {
        fail_pass(before(), pass, context.route, error);
    }
    return true;
}

void PassContext::taken(std::string site, std::string candidate) {
    decisions.push_back({std::string(pass), std::move(site), std::move(candidate), true, Verdict::yes(), 0});
}

void PassContext::refused(std::string site, std::string candidate, Verdict verdict) {
    decisions.push_back({std::string(pass), std::move(site), std::move(candidate), false, std::move(verdict), 0});
}

bool PassContext::decided(std::string site, std::string candidate, Verdict verdict) {
    const bool is_taken = static_cast<bool>(verdict);
    if (is_taken)
        taken(std::move(site), std::move(candidate));
    else
        refused(std::move(site), std::move(candidate), std::move(verdict));
    return is_taken;
}

void run_pipeline(Graph& graph, const Route& route, const Target& target, const Registry<Op>& ops,
                  const Registry<Pass>& passes, std::vector<Decision>& decisions, std::vector<PassTiming>* timings) {
    PassContext context{graph, route, target, ops, decisions, {}};
    // Nodes that nothing reads in the file are readers to every pattern that counts them.
    erase_dead_nodes(graph);
    graph.compact();
    PipelineRun(context, passes, timings).run(std::numeric_limits<int64_t>::max());
}

std::vector<std::string> pipeline_order() {
    std::vector<std::string> names;
    for (const PhasePlan& plan : pipeline()) names.insert(names.end(), plan.passes.begin(), plan.passes.end());
    return names;
}

}  // namespace headway
