// headway report and headway replay: what studies found, and whether that follows from their own data.
#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/text.h"
#include "cli/command.h"
#include "cli/options.h"
#include "tuner/comparison.h"
#include "tuner/replay.h"
#include "tuner/report.h"

namespace headway {
namespace {

struct ReportOptions {
    std::vector<std::string> studies;
    bool json = false;
};

struct ReplayOptions {
    std::string study;
    bool json = false;
};

int print_report(const ReportOptions& options) {
    std::vector<Study> studies;
    for (const std::string& folder : options.studies) studies.push_back(Study::read(folder));
    if (studies.size() == 1)
        std::cout << (options.json ? report_json(studies.front()) : report_markdown(studies.front()));
    else
        std::cout << (options.json ? comparison_json(studies) : comparison_markdown(studies));
    return exit_yes;
}

int print_replay(const ReplayOptions& options) {
    const Replay again = replay(Study::read(options.study));
    if (options.json) {
        const nlohmann::ordered_json facts{{"visits", again.visits},
                                           {"verdict", again.verdict},
                                           {"route", again.route},
                                           {"contradictions", again.contradictions}};
        std::cout << facts.dump() << "\n";
    } else {
        for (const std::string& contradiction : again.contradictions)
            std::cout << "contradiction: " << escaped(contradiction) << "\n";
        std::cout << fmt::format(
            "{} visits replayed, verdict {}, route {}: {}\n", again.visits,
            again.verdict.empty() ? "(none yet)" : again.verdict,
            again.route.empty() ? "(default)" : escaped(again.route),
            again.contradictions.empty() ? "follows from the log" : "does not follow from the log");
    }
    return again.contradictions.empty() ? exit_yes : exit_no;
}

const Command report_command{
    "report", "Print what a study found, or how knobs fared over several", [](CLI::App& app) -> Command::Action {
        auto options = std::make_shared<ReportOptions>();
        app.add_option("studies", options->studies,
                       "Folder of a study; with several, which knob values won on one and lost on another")
            ->required()
            ->type_name("STUDY");
        add_json_option(app, options->json);
        return [options] { return print_report(*options); };
    }};

const Command replay_command{
    "replay", "Judge a study again from its log", [](CLI::App& app) -> Command::Action {
        auto options = std::make_shared<ReplayOptions>();
        app.add_option("study", options->study, "Folder of a study")->required()->type_name("STUDY");
        add_json_option(app, options->json);
        return [options] { return print_replay(*options); };
    }};

}  // namespace
}  // namespace headway
