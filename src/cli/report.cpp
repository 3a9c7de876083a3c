// headway report and headway replay: what a study found, and whether that follows from its own data.
#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "cli/command.h"
#include "cli/options.h"
#include "tuner/replay.h"
#include "tuner/report.h"

namespace headway {
namespace {

struct Options {
    std::string study;
    bool json = false;
};

int print_report(const Options& options) {
    const Study study = Study::read(options.study);
    std::cout << (options.json ? report_json(study) : report_markdown(study));
    return exit_yes;
}

int print_replay(const Options& options) {
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

template <int (*run)(const Options&)>
Command::Action set_up(CLI::App& app) {
    auto options = std::make_shared<Options>();
    app.add_option("study", options->study, "Folder of a study")->required()->type_name("STUDY");
    add_json_option(app, options->json);
    return [options] { return run(*options); };
}

const Command report_command{"report", "Print what a study found", set_up<print_report>};
const Command replay_command{"replay", "Judge a study again from its log", set_up<print_replay>};

}  // namespace
}  // namespace headway
