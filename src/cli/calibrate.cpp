// headway calibrate: how noisy this machine is, and what its measurements can show.
#include <CLI/CLI.hpp>
#include <cmath>
#include <csignal>
#include <fmt/format.h>
#include <iostream>
#include <memory>

#include "base/file.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/interrupt.h"
#include "cli/operands.h"
#include "graph/text.h"
#include "onnx/export.h"
#include "tuner/calibrate.h"

namespace headway {
namespace {

struct Options {
    std::string subject, data;
    BuildOptions build;
    CalibrateOptions calibrate;
    bool quick = false, json = false, show = false;
};

// A few milliseconds of fp32 products on one core: long against the clock, short against a time slice.
constexpr const char* usual_graph = R"(graph {
  input %x: f32[256,512]
  const %a: f32[512,512] = random(1)
  const %b: f32[512,512] = random(2)
  const %c: f32[512,512] = random(3)
  %1 = MatMul(%x, %a)
  %2 = Relu(%1)
  %3 = MatMul(%2, %b)
  %4 = Relu(%3)
  %y = MatMul(%4, %c)
  output %y
})";

void print(const MachineProfile& profile, const std::string& path) {
    const auto per_cent = [](double log) { return 100 * std::expm1(log); };
    std::cout << fmt::format("{}: {:.3f} ms, {} visits of {} rounds against its own copy\n", escaped(profile.subject),
                             profile.iteration_ms, profile.visits, profile.rounds);
    std::cout << fmt::format(
        "noise of a round {:.2f} %, of a process {:.2f} %; correlation with the next round {:.2f}\n",
        per_cent(profile.components.round_sd), per_cent(profile.components.process_sd), profile.lag1);
    std::cout << fmt::format("copy {:+.2f} % (p {:.2f}), second position {:+.2f} % (p {:.2f}): both should be near 0\n",
                             per_cent(profile.control_mean), profile.control_p, per_cent(profile.position_effect),
                             profile.position_p);
    std::cout << fmt::format("a process costs {:.2f} s, a block {:.3f} s: best are {} rounds a visit\n", profile.load_s,
                             profile.block_s, profile.best_rounds());
    std::cout << "gain that is found with 80 % power:";
    for (const int visits : resolution_visits)
        std::cout << fmt::format("  {} visits {:.2f} %", visits, per_cent(profile.resolution(visits)));
    std::cout << fmt::format("\nclock {:.2f} GHz [{:.2f}, {:.2f}], memory {:.1f} GB/s [{:.1f}, {:.1f}]\n",
                             profile.clock_ghz[1], profile.clock_ghz[0], profile.clock_ghz[2],
                             profile.memory_gb_per_s[1], profile.memory_gb_per_s[0], profile.memory_gb_per_s[2]);
    const GuardRules& rules = profile.rules;
    std::cout << fmt::format(
        "guards drop a round beyond: run-queue delay {}, lost CPU {}, clock {}, memory speed {}; a visit: steal {}\n",
        percent(rules.most_run_delay), percent(rules.most_lost), percent(rules.most_clock_change),
        percent(rules.most_memory_change), percent(rules.most_steal));
    std::cout << "guards that this machine lacks: "
              << (profile.missing_guards.empty() ? "none" : join(profile.missing_guards, ", ")) << "\n";
    if (profile.builder_repeats)
        std::cout << "the builder repeats itself: " << (*profile.builder_repeats ? "yes" : "no") << "\n";
    std::cout << "profile " << (path.empty() ? "not stored: no writable cache folder" : path) << "\n";
}

void report(const MachineProfile& profile, const std::string& path, bool json) {
    if (json)
        std::cout << profile_json(profile);
    else
        print(profile, path);
}

int run(Options& options) {
    const int threads = options.build.threads;
    if (options.show) {
        const std::optional<MachineProfile> known = load_profile(threads);
        if (!known) throw UserError("this machine has no profile for these threads: run headway calibrate");
        report(*known, profile_path(threads), options.json);
        return exit_yes;
    }
    if (options.quick) {
        options.calibrate.visits = quick_calibration().visits;
        options.calibrate.rounds = quick_calibration().rounds;
    }
    options.calibrate.stop = &stop_on({SIGINT});
    options.calibrate.progress = [](int done, int visits) {
        std::cerr << fmt::format("headway: visit {} of {}\n", done, visits);
    };
    Operands operands(options.build, options.data, 0);
    std::string subject = options.subject;
    if (subject.empty()) {
        subject = operands.scratch_file("products.onnx");
        write_file_atomically(subject, export_onnx(parse_graph(usual_graph)));
    }
    operands.add(subject);
    MachineProfile profile = calibrate(operands.all().front(), operands.scratch_file("copy.hwe"), options.calibrate);
    profile.threads = threads;
    profile.subject = options.subject.empty() ? "three products of 256x512x512" : options.subject;
    profile.builder_repeats = operands.builds_repeat();
    const bool stored = store_profile(profile);
    report(profile, stored ? profile_path(threads) : "", options.json);
    return exit_yes;
}

const Command calibrate_command{
    "calibrate", "Measure how noisy this machine is, and keep that as its profile",
    [](CLI::App& app) -> Command::Action {
        auto options = std::make_shared<Options>();
        app.add_option("subject", options->subject,
                       "An engine, a model, or BUILDER:MODEL[::ROUTE] (default: three matrix products)")
            ->type_name("A");
        app.add_option("--data", options->data, "Data whose first sample is timed (default: generated inputs)")
            ->type_name("DIR");
        app.add_option("--visits", options->calibrate.visits, "Visits: fresh processes of the engine and its copy")
            ->check(CLI::Range(2, 1000))
            ->capture_default_str();
        app.add_option("--rounds", options->calibrate.rounds, "Rounds of blocks in a visit")
            ->check(CLI::Range(2, 100))
            ->capture_default_str();
        app.add_flag("--quick", options->quick,
                     "Some seconds instead of a minute: what bench and tune do by themselves");
        app.add_flag("--show", options->show, "Print the profile that this machine has and measure nothing");
        app.add_option("--seed", options->calibrate.seed, "Seed of every random order")->capture_default_str();
        add_build_options(app, options->build);
        add_json_option(app, options->json);
        return [options] { return run(*options); };
    }};

}  // namespace
}  // namespace headway
