// headway tune: the main job, from the command line to the delivered engine.
#include <CLI/CLI.hpp>

#include <csignal>
#include <filesystem>
#include <fmt/format.h>
#include <iostream>
#include <memory>

#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/gate_options.h"
#include "cli/interrupt.h"
#include "cli/options.h"
#include "tuner/budget.h"
#include "tuner/tune.h"

namespace headway {
namespace {

struct Options {
    TuneOptions tune;
    BuildOptions build;
    GateOptions gate;
    std::string model;  // as given
    std::string budget = "10m", builders = "native", scenario = "latency";
    int64_t seed = 1;
    bool json = false;
};

// "90", "90s", "10m", "1h".
double parse_budget(const std::string& text) {
    size_t digits = 0;
    double value = 0;
    try {
        value = std::stod(text, &digits);
    } catch (const std::exception&) {
        digits = 0;
    }
    const std::string unit = text.substr(std::min(digits, text.size()));
    const double scale = unit.empty() || unit == "s" ? 1 : unit == "m" ? 60 : unit == "h" ? 3600 : 0;
    if (digits == 0 || scale == 0)
        throw UserError("--budget " + escaped(text) + ": expected a time such as 90s, 10m or 1h");
    if (!(value > 0) || value * scale > 1e9) throw UserError("--budget " + escaped(text) + ": must be positive");
    return value * scale;
}

// A new folder beside the current one's files: an old study goes on only when it is named.
std::string fresh_study(const std::string& stem) {
    std::string folder = stem + ".study";
    for (int k = 2; std::filesystem::exists(folder); ++k) folder = stem + ".study-" + std::to_string(k);
    return folder;
}

void complete(Options& options) {
    TuneOptions& tune = options.tune;
    tune.budget_s = parse_budget(options.budget);
    tune.builders = split(options.builders, ',');
    tune.scenario = Scenario::parse(options.scenario);
    tune.gate = make_gate(options.gate);
    tune.model = open_request(std::filesystem::absolute(options.model).string(), options.build, "");
    const std::string stem = std::filesystem::path(options.model).stem().string();
    if (tune.output.empty()) tune.output = stem + ".hwe";
    if (tune.study.empty()) tune.study = fresh_study(stem);
    for (std::string* path : {&tune.data, &tune.heldout, &tune.output, &tune.study})
        if (!path->empty()) *path = std::filesystem::absolute(*path).string();
    if (std::filesystem::is_regular_file(tune.space)) tune.space = read_file(tune.space);
    tune.seed = static_cast<uint64_t>(options.seed);
    tune.worker_command = worker_command();
    tune.clock = seconds_now;
    tune.profile = load_profile(tune.model.threads);
    // Address space, not memory in use: no engine that needs more than the machine has is worth waiting for.
    tune.memory_limit = limits().memory;
}

void print_summary(const TuneResult& result) {
    std::cout << to_string(result.finding);
    if (result.finding == Finding::faster)
        std::cout << fmt::format(": {:.3f}x the speed of the default engine [{:.3f}, {:.3f}]", result.speedup,
                                 result.low, result.high);
    if (!result.why.empty()) std::cout << ": " << result.why;
    std::cout << fmt::format("\nbuilder {}\nroute   {}\nengine  {}\n", result.builder,
                             result.route.empty() ? "(default)" : result.route, escaped(result.engine));
    for (const std::string& file : result.files) std::cout << "code    " << escaped(file) << "\n";
    std::cout << fmt::format("report  {}/report.md\n{} trials, {} builds, {:.0f} s\n", escaped(result.study),
                             result.trials, result.builds, result.seconds);
}

int run_tune(Options& options) {
    complete(options);
    // The first Ctrl-C ends the budget, the second one the program; workers die with it.
    options.tune.stop = &stop_on({SIGINT, SIGTERM});
    const TuneResult result = tune(options.tune);
    if (options.json)
        std::cout << result.json() << "\n";
    else
        print_summary(result);
    return result.finding == Finding::faster ? exit_yes : exit_no;
}

void add_options(CLI::App& app, Options& options) {
    TuneOptions& tune = options.tune;
    app.add_option("model", options.model, "The ONNX model")->required()->type_name("MODEL");
    app.add_option("--data", tune.data, "Folder of test_data_set_k/input_i.pb, output_i.pb (default: generated inputs)")
        ->type_name("DIR");
    app.add_option("--heldout", tune.heldout,
                   "Samples that only the winner is checked on (default: every third of --data)")
        ->type_name("DIR");
    app.add_option("--builder", options.builders, "Builders, the reference first")
        ->type_name("B[,B]")
        ->capture_default_str();
    app.add_option("--budget", options.budget, "Wall clock for everything, as 90s, 10m, 1h")
        ->type_name("TIME")
        ->capture_default_str();
    app.add_option("--scenario", options.scenario, std::string("What is optimised: ") + scenario_help)
        ->capture_default_str();
    app.add_option("--space", tune.space,
                   "Routes to search, KNOB=[A|B],..., or a file (default: every value of every knob)")
        ->type_name("ROUTESET");
    app.add_option("--study", tune.study, "Folder of the study; an existing one goes on (default: a new MODEL.study)")
        ->type_name("DIR");
    app.add_option("-o,--output", tune.output, "The engine file (default: MODEL.hwe)")->type_name("E");
    app.add_option("--trials", tune.most_trials, "Most trials (default: as many as the budget holds)")
        ->check(CLI::PositiveNumber)
        ->type_name("N");
    app.add_option("--seed", options.seed, "Seed of every random choice")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
    add_gate_options(app, options.gate);
    add_build_options(app, options.build);
    add_json_option(app, options.json);
}

const Command tune_command{"tune", "Find the fastest engine inside the tolerance",
                           [](CLI::App& app) -> Command::Action {
                               auto options = std::make_shared<Options>();
                               add_options(app, *options);
                               return [options] { return run_tune(*options); };
                           }};

}  // namespace
}  // namespace headway
