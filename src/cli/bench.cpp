// headway bench: engines, models or routes against each other, interleaved.
#include <CLI/CLI.hpp>
#include <cmath>
#include <csignal>
#include <fmt/format.h>
#include <iostream>
#include <memory>

#include "base/text.h"
#include "cli/command.h"
#include "cli/interrupt.h"
#include "cli/operands.h"
#include "cli/options.h"
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

void print(const BenchResult& result, const Scenario& scenario) {
    std::cout << "scenario " << scenario.text();
    if (scenario.kind == Scenario::Kind::tail)
        std::cout << fmt::format(": times are upper bounds of the {} % percentile, right with 99 % confidence",
                                 scenario.percentile);
    std::cout << "\n";
    for (const BenchEngine& engine : result.engines)
        std::cout << fmt::format("{}  median {:.4f} ms  p5 {:.4f}  p95 {:.4f}  {:.1f} samples/s\n", engine.engine,
                                 engine.median_ms, engine.p5_ms, engine.p95_ms, engine.samples_per_s);
    for (const BenchComparison& comparison : result.comparisons) {
        const Comparison& judged = comparison.result;
        std::cout << fmt::format("{} against {}: {} {:.3f}x [{:.3f}, {:.3f}], resolution {:.2f} %{}\n",
                                 comparison.engine, comparison.against, to_string(judged.finding),
                                 judged.speedup.center, judged.speedup.low, judged.speedup.high,
                                 100 * std::expm1(judged.resolution),
                                 judged.why == Why::none ? "" : fmt::format(" ({})", to_string(judged.why)));
    }
    std::cout << fmt::format("{} rounds, {} dropped by guards", result.guards.rounds, result.guards.dropped);
    for (const auto& [guard, rounds] : result.guards.fired) std::cout << fmt::format("; {}: {}", guard, rounds);
    std::cout << fmt::format("; steal at most {} of a visit\n", percent(result.guards.most_steal));
    if (!result.guards.missing.empty())
        std::cout << "guards that this machine lacks: " << join(result.guards.missing, ", ") << "\n";
}

int run(Options& options) {
    options.bench.scenario = Scenario::parse(options.scenario);
    options.bench.margin = std::log1p(options.margin_percent / 100);
    options.bench.stop = &stop_on({SIGINT});
    Operands operands(options.build, options.data, options.bench.scenario.batch);
    operands.add(options.subject);
    for (const std::string& operand : options.against) operands.add(operand);
    options.bench.rules = machine_rules(operands, options.build.threads, options.bench.stop);
    const BenchResult result = bench(operands.all(), options.bench);
    if (options.json)
        std::cout << bench_json(result) << "\n";
    else
        print(result, options.bench.scenario);
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
