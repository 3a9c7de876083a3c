// How honest the claim protocol is: thousands of whole runs (control, race, confirm, report) over candidates whose true
// gains are known, on made-up machines and on the one whose calibration is given.
//
// usage: bench_claims [--profile NAME|FILE.json|all] [--truth identical|slower|mixed|one] [--runs 2000]
//                     [--candidates 100] [--gain 0.02] [--margin M] [--alpha 0.05] [--threads N] [--seed 1] [--json]
#include "sim/claims.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/error.h"
#include "base/file.h"
#include "measure/machine_profile.h"

namespace headway {
namespace {

using Json = nlohmann::ordered_json;

Json share_json(const Proportion& proportion) {
    return {{"hits", proportion.hits},
            {"trials", proportion.trials},
            {"share", proportion.share()},
            {"lower", proportion.lower()},
            {"upper", proportion.upper()}};
}

Json summary_json(const std::string& profile, const ClaimsOptions& options, const ClaimsSummary& summary) {
    return {{"profile", profile},
            {"truth", to_string(options.truth)},
            {"gain", options.gain},
            {"candidates", options.candidates},
            {"seed", options.seed},
            {"claims", share_json(summary.claims)},
            {"false_claims", share_json(summary.false_claims)},
            {"covered", share_json(summary.covered)},
            {"unfit", share_json(summary.unfit)},
            {"unstable", share_json(summary.unstable)},
            {"race_bias", summary.race_bias},
            {"report_bias", summary.report_bias},
            {"report_bias_error", summary.report_bias_error},
            {"regret", summary.regret},
            {"margin", summary.margin},
            {"claim_visits", summary.claim_visits},
            {"blocks", summary.blocks}};
}

void print_header() {
    fmt::print("{:12} {:9} {:>7} {:>24} {:>7} {:>7} {:>9} {:>17} {:>7} {:>7} {:>6} {:>6}\n", "profile", "truth",
               "claims", "false claims [95 %]", "covers", "regret", "race bias", "report bias +- se", "margin", "unfit",
               "visits", "blocks");
}

void print_line(const std::string& profile, const ClaimsOptions& options, const ClaimsSummary& summary) {
    const auto percent = [](double share) { return fmt::format("{:.2f} %", 100 * share); };
    const std::string false_claims =
        fmt::format("{:.2f} % [{:.2f}, {:.2f}]", 100 * summary.false_claims.share(), 100 * summary.false_claims.lower(),
                    100 * summary.false_claims.upper());
    const std::string bias =
        fmt::format("{:+.3f} +- {:.3f} %", 100 * summary.report_bias, 100 * summary.report_bias_error);
    fmt::print("{:12} {:9} {:>7} {:>24} {:>7} {:>7} {:>9} {:>17} {:>7} {:>7} {:>6.1f} {:>6.0f}\n", profile,
               to_string(options.truth), fmt::format("{:.1f} %", 100 * summary.claims.share()), false_claims,
               fmt::format("{:.1f} %", 100 * summary.covered.share()), percent(summary.regret),
               fmt::format("{:+.2f} %", 100 * summary.race_bias), bias, percent(summary.margin),
               percent(summary.unfit.share()), summary.claim_visits, summary.blocks);
    std::fflush(stdout);
}

std::vector<std::string> names_of_profiles(const std::string& choice) {
    std::vector<std::string> names;
    for (const NoiseProfile& profile : noise_profiles()) names.emplace_back(profile.name);
    return choice == "all" ? names : std::vector<std::string>{choice};
}

// A machine that was calibrated: its noise, its costs, and the rounds that the tuner gives the control there.
void take_machine(const std::string& file, ClaimsOptions& options) {
    const MachineProfile machine = profile_from_json(read_file(file));
    options.noise = noise_of_components(machine.components.round_sd, machine.components.process_sd);
    options.rules.control_rounds = machine.best_rounds();
    options.rules.load_cost = machine.load_s;
    options.rules.block_cost = machine.block_s;
}

int run(int argc, char** argv) {
    CLI::App app("Runs the claim protocol thousands of times on made-up machines.", "bench_claims");
    ClaimsOptions options;
    options.threads = static_cast<int>(std::thread::hardware_concurrency());
    std::string profile = "all", truth = "identical";
    double margin = -1;
    bool json = false;
    app.add_option("--profile", profile, "a machine, FILE.json of a calibration, or all")->capture_default_str();
    app.add_option("--truth", truth, "identical, slower, mixed or one")->capture_default_str();
    app.add_option("--runs", options.runs)->capture_default_str()->check(CLI::Range(1, 10'000'000));
    app.add_option("--candidates", options.candidates)->capture_default_str()->check(CLI::Range(1, 100'000));
    app.add_option("--gain", options.gain, "true log speed-up of the faster ones")->capture_default_str();
    app.add_option("--margin", margin, "smallest gain worth a claim, instead of the control's");
    app.add_option("--alpha", options.rules.confirm.alpha, "error level of a run")->capture_default_str();
    app.add_option("--threads", options.threads)->capture_default_str()->check(CLI::Range(1, 1024));
    app.add_option("--seed", options.seed)->capture_default_str();
    app.add_flag("--json", json);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : 2;
    }
    options.truth = truth_from_string(truth);
    if (margin >= 0) options.rules.margin = margin;
    Json all = Json::array();
    if (!json) print_header();
    for (const std::string& name : names_of_profiles(profile)) {
        if (name.ends_with(".json"))
            take_machine(name, options);
        else
            options.noise = find_noise(name);
        const ClaimsSummary summary = run_claims(options);
        if (json)
            all.push_back(summary_json(name, options, summary));
        else
            print_line(name, options, summary);
    }
    if (json) fmt::print("{}\n", all.dump(1));
    return 0;
}

}  // namespace
}  // namespace headway

int main(int argc, char** argv) {
    try {
        return headway::run(argc, argv);
    } catch (const headway::UserError& error) {
        std::fprintf(stderr, "bench_claims: %s\n", error.what());
        return 2;
    }
}
