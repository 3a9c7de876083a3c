// headway bench: engines, models or routes against each other, interleaved.
#include <CLI/CLI.hpp>
#include <atomic>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <fmt/format.h>
#include <iostream>
#include <memory>

#include "base/error.h"
#include "base/temporary.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/native_session.h"
#include "cli/options.h"
#include "cli/runnable.h"
#include "tuner/bench.h"

namespace headway {
namespace {

struct Options {
    std::string subject, data, route;
    std::vector<std::string> against;
    BenchOptions bench;
    BuildOptions build;
    double margin_percent = 0.5;
    std::string scenario = "latency";
    bool json = false;
};

std::atomic<bool> stop_requested = false;
void on_interrupt(int) {
    stop_requested = true;
    std::signal(SIGINT, SIG_DFL);
}

// An operand is E.hwe, MODEL, or BUILDER:MODEL[::ROUTE].
struct Operand {
    std::string builder = "native", path, route;
};

Operand parse_operand(const std::string& text) {
    Operand operand;
    operand.path = text;
    for (const BuilderKind* kind : declared<BuilderKind>()) {
        const std::string prefix = std::string(kind->name()) + ":";
        if (!text.starts_with(prefix)) continue;
        operand.builder = kind->name();
        operand.path = text.substr(prefix.size());
    }
    if (const size_t at = operand.path.find("::"); at != std::string::npos) {
        operand.route = operand.path.substr(at + 2);
        operand.path.resize(at);
    }
    return operand;
}

class Bench {
public:
    explicit Bench(const Options& options) : options_(options) {
        sample_ = write_first_sample(options.data, folder_.path() + "/sample", options.bench.scenario.batch);
        add(options.subject);
        for (const std::string& operand : options.against) add(operand);
    }

    BenchOutcome run() { return bench(operands_, options_.bench); }

private:
    void add(const std::string& text) {
        const Operand operand = parse_operand(text);
        const OpenRequest request =
            open_request(std::filesystem::absolute(operand.path).string(), options_.build, sample_);
        WorkerOptions worker;
        worker.command = {std::filesystem::read_symlink("/proc/self/exe").string(), "worker"};
        worker.scratch = folder_.path();
        workshops_.push_back(std::make_unique<Workshop>(operand.builder, worker, request));
        BenchOperand entry{text, request.model, workshops_.back().get()};
        try {
            WorkerClient& builder = workshops_.back()->builder_worker(start_deadline_s);
            if (!is_engine_file(operand.path)) {
                entry.engine = folder_.path() + "/" + std::to_string(operands_.size()) + ".hwe";
                builder.build(route_text(operand.route), entry.engine, "", build_deadline_s);
            }
        } catch (const WorkerError& error) {
            throw UserError(escaped(text) + ": " + error.what());
        }
        workshops_.back()->close_builder_worker();
        operands_.push_back(entry);
    }

    static constexpr double start_deadline_s = 120, build_deadline_s = 600;
    const Options& options_;
    TemporaryFolder folder_;
    std::string sample_;
    std::vector<std::unique_ptr<Workshop>> workshops_;
    std::vector<BenchOperand> operands_;
};

void print(const BenchOutcome& outcome, const Scenario& scenario) {
    std::cout << "scenario " << scenario.text();
    if (scenario.kind == Scenario::Kind::tail)
        std::cout << fmt::format(": times are upper bounds of the {} % percentile, right with 99 % confidence",
                                 scenario.percentile);
    std::cout << "\n";
    for (const BenchEngine& engine : outcome.result.engines)
        std::cout << fmt::format("{}  median {:.4f} ms  p5 {:.4f}  p95 {:.4f}  {:.1f} samples/s\n", engine.engine,
                                 engine.median_ms, engine.p5_ms, engine.p95_ms, engine.samples_per_s);
    for (const BenchComparison& comparison : outcome.result.comparisons) {
        const Comparison& result = comparison.result;
        std::cout << fmt::format("{} against {}: {} {:.3f}x [{:.3f}, {:.3f}], resolution {:.2f} %{}\n",
                                 comparison.engine, comparison.against, to_string(result.finding),
                                 result.speedup.center, result.speedup.low, result.speedup.high,
                                 100 * std::expm1(result.resolution),
                                 result.why == Why::none ? "" : fmt::format(" ({})", to_string(result.why)));
    }
    std::cout << fmt::format("{} rounds, {} dropped by guards", outcome.rounds, outcome.dropped);
    for (const auto& [guard, rounds] : outcome.drop_reasons) std::cout << fmt::format("; {}: {}", guard, rounds);
    std::cout << "\n";
}

int run(Options& options) {
    options.bench.scenario = Scenario::parse(options.scenario);
    options.bench.margin = std::log1p(options.margin_percent / 100);
    options.bench.stop = &stop_requested;
    std::signal(SIGINT, on_interrupt);
    const BenchOutcome outcome = Bench(options).run();
    if (options.json)
        std::cout << bench_json(outcome.result) << "\n";
    else
        print(outcome, options.bench.scenario);
    return exit_yes;
}

const Command command{
    "bench", "Time engines against each other, interleaved in fresh processes", [](CLI::App& app) -> Command::Action {
        auto options = std::make_shared<Options>();
        app.add_option("subject", options->subject, "An engine, a model, or BUILDER:MODEL[::ROUTE]")
            ->required()
            ->type_name("A");
        app.add_option("--against", options->against, "What to compare it with; may be repeated")->type_name("B");
        app.add_option("--data", options->data, "Data whose first sample is timed (default: generated inputs)")
            ->type_name("DIR");
        app.add_option("--visits", options->bench.visits, "Visits: fresh processes of every engine")
            ->check(CLI::Range(1, 1000))
            ->capture_default_str();
        app.add_option("--rounds", options->bench.rounds, "Rounds of blocks in a visit")
            ->check(CLI::Range(1, 100))
            ->capture_default_str();
        app.add_option("--margin", options->margin_percent, "Smallest difference worth a verdict, in percent")
            ->check(CLI::Range(0.0, 100.0))
            ->capture_default_str();
        app.add_option("--scenario", options->scenario, std::string("What is timed: ") + scenario_help)
            ->capture_default_str();
        app.add_option("--seed", options->bench.seed, "Seed of every random order")->capture_default_str();
        add_build_options(app, options->build);
        add_json_option(app, options->json);
        return [options] { return run(*options); };
    }};

}  // namespace
}  // namespace headway
