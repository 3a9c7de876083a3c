// onnx_cases: runs ONNX backend cases on Headway's engines and says which do not come out as their list foresees.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fmt/format.h>
#include <iostream>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "case_set.h"
#include "coverage.h"
#include "engine_kind.h"
#include "expected.h"
#include "metamorphic.h"
#include "run_cases.h"

namespace headway::conformance {
namespace {

using Json = nlohmann::json;

struct Options {
    std::vector<std::string> folders, sets, engines;
    std::string expected, only, coverage;
    bool json = false, update = false;
    int64_t memory_mib = 6144;
    BatchLimits limits;
};

// One set (or folder) on one engine, with its list.
struct Job {
    std::string set, folder, engine, list;
};

std::vector<Job> jobs_of(const Options& options) {
    std::vector<Job> jobs;
    std::vector<std::string> engines = options.engines;
    if (!options.folders.empty()) {
        if (!options.sets.empty()) throw UserError("give folders or --set, not both");
        if (engines.empty()) engines = {"interpreter"};
        for (const std::string& folder : options.folders)
            for (const std::string& engine : engines) jobs.push_back({folder, folder, engine, options.expected});
        return jobs;
    }
    if (!options.expected.empty()) throw UserError("--expected is for folders: the sets have their lists");
    if (engines.empty())
        for (const EngineKind& kind : engine_kinds()) engines.push_back(kind.name);
    std::vector<CaseSet> sets;
    for (const std::string& name : options.sets) sets.push_back(known_set(name));
    for (const CaseSet& set : options.sets.empty() ? known_sets() : sets)
        for (const std::string& engine : engines)
            jobs.push_back({set.name, set.folder, engine, list_file(set, engine_kind(engine).list)});
    return jobs;
}

// On a terminal one line that counts, elsewhere a plain line now and then.
void show_progress(const Job& job, size_t done, size_t all) {
    constexpr size_t seldom = 500;
    const bool terminal = ::isatty(2) != 0;
    if (!terminal && done % seldom != 0) return;
    std::fprintf(stderr, "%s %s: %zu of %zu%s", job.set.c_str(), job.engine.c_str(), done, all, terminal ? "\r" : "\n");
    if (terminal && done == all) std::fprintf(stderr, "\33[K");
}

Json report(const SetRun& run, const std::vector<std::string>& unforeseen, const Options& options) {
    Json counts, results = Json::array();
    std::vector<std::string> words;
    for (Outcome outcome : all_outcomes) {
        const auto count = std::ranges::count(run.results, outcome, &CaseResult::outcome);
        counts[std::string(to_string(outcome))] = count;
        words.push_back(fmt::format("{} {}", count, to_string(outcome)));
    }
    for (const CaseResult& result : run.results)
        results.push_back({{"name", result.name}, {"outcome", to_string(result.outcome)}, {"detail", result.detail}});
    if (!options.json) {
        for (const std::string& line : unforeseen) fmt::print("{}\n", line);
        fmt::print("{}, {}: {} cases: {}; {} not as listed\n", run.set, run.engine, run.results.size(),
                   fmt::join(words, ", "), unforeseen.size());
        std::fflush(stdout);
    }
    return {{"set", run.set},
            {"engine", run.engine},
            {"counts", counts},
            {"results", results},
            {"not_as_listed", unforeseen}};
}

SetRun run_job(const Job& job, const ExpectedList& list, const Options& options) {
    SetRun run{job.set, job.engine, {}, {}};
    for (const CaseFiles& files : find_cases(job.folder))
        if (files.name.find(options.only) != std::string::npos) run.cases.push_back(files);
    const auto is_random = [&](const std::string& name) {
        const auto at = list.find(name);
        return at != list.end() && at->second.reason.starts_with("random");
    };
    run.results = run_cases(run.cases, job.engine, is_random, options.limits,
                            [&](size_t done) { show_progress(job, done, run.cases.size()); });
    return run;
}

int run(const Options& options) {
    std::vector<SetRun> runs;
    Json reports = Json::array();
    bool as_listed = true;
    for (const Job& job : jobs_of(options)) {
        const bool has_list = !job.list.empty();
        const ExpectedList list = has_list ? read_expected(job.list) : ExpectedList();
        runs.push_back(run_job(job, list, options));
        const bool whole = has_list && options.only.empty();
        if (options.update && whole)
            write_file_atomically(job.list, renewed_list(read_file(job.list), runs.back().results));
        const std::vector<std::string> unforeseen = surprises(list, runs.back().results, whole);
        as_listed = as_listed && unforeseen.empty();
        reports.push_back(report(runs.back(), unforeseen, options));
    }
    if (options.json) fmt::print("{}\n", reports.dump(1, ' ', false, Json::error_handler_t::replace));
    if (!options.coverage.empty()) write_file_atomically(options.coverage, coverage_page(runs, Catalogue()));
    return as_listed ? 0 : 1;
}

struct MetamorphicOptions {
    std::vector<std::string> cases;
    std::string variant;
    double percent = 2;
    uint64_t seed = 1;
};

int run_metamorphic(const Options& options, const MetamorphicOptions& wanted) {
    bool failed = false;
    for (const Job& job : jobs_of(options)) {
        std::vector<CaseFiles> cases;
        for (const CaseFiles& files : find_cases(job.folder))
            if (files.name.find(options.only) != std::string::npos &&
                (wanted.cases.empty() || std::ranges::find(wanted.cases, files.name) != wanted.cases.end()))
                cases.push_back(files);
        if (wanted.cases.empty()) cases = sampled(cases, wanted.percent, wanted.seed);
        const MetamorphicResults results =
            run_metamorphic(cases, wanted.variant, wanted.seed, options.limits,
                            [&](size_t done) { show_progress(job, done, cases.size()); });
        const std::string place = options.folders.empty() ? "--set " + job.set : job.folder;
        fmt::print("{}",
                   metamorphic_report(results, fmt::format("onnx_cases metamorphic {} --seed {}", place, wanted.seed)));
        fmt::print("{}, seed {}: {} cases, {} without an engine\n", job.set, wanted.seed, cases.size(),
                   results.not_built.size());
        std::fflush(stdout);
        failed = failed || std::ranges::any_of(results.variants, [](const VariantResult& result) {
                     return is_failure(result.finding.relation);
                 });
    }
    return failed ? 1 : 0;
}

// The requests that this program sends to itself.
int serve() {
    const Catalogue catalogue;
    return serve_batches([&](const Json& request, const std::function<void(const Json&)>& send) -> Json {
        const std::string what = request.at("do");
        if (what == "case") return handle_case(request, catalogue);
        if (what == "metamorphic") return handle_metamorphic(request, send, catalogue);
        HEADWAY_CHECK(what == "engine");
        run_engine_file(request.at("engine"), request.at("inputs"), request.at("outputs"), catalogue.kernels);
        return Json::object();
    });
}

void add_choice_of_cases(CLI::App& app, Options& options) {
    app.add_option("folders", options.folders, "Folders of cases; without any the project's sets, each with its list");
    app.add_option("--set", options.sets, "Only this set: onnx-1.12 or onnx-1.22")->type_name("NAME");
    app.add_option("--only", options.only, "Only cases whose names contain this")->type_name("TEXT");
    app.add_option("--jobs", options.limits.jobs, "Children at a time")
        ->check(CLI::Range(1, 256))
        ->capture_default_str();
    app.add_option("--seconds", options.limits.seconds, "Time limit of a case, of a variant")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app.add_option("--memory", options.memory_mib, "Address space of a child in MiB")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
}

int main_of(int argc, char** argv) {
    Options options;
    CLI::App app(
        "Runs ONNX backend cases, each in a child process, and compares the outputs. Exit code 1 when a case does "
        "not come out as its list says (without a list: must pass).");
    add_choice_of_cases(app, options);
    app.add_option("--engine", options.engines,
                   "interpreter, native or staged (default: interpreter for folders, all for sets)")
        ->type_name("NAME");
    app.add_option("--expected", options.expected, "List of the cases of the folders that do not pass")
        ->type_name("FILE");
    app.add_option("--coverage", options.coverage, "Write the page docs/reference/conformance.md")->type_name("FILE");
    app.add_flag("--json", options.json, "All results as JSON");
    app.add_flag("--update", options.update, "Rewrite the lists for what came out");

    MetamorphicOptions wanted;
    CLI::App* metamorphic = app.add_subcommand("metamorphic",
                                               "Computes cases in other ways that must give the same values: other "
                                               "routes, a reloaded engine, the model written "
                                               "otherwise. Exit code 1 when values differ.");
    add_choice_of_cases(*metamorphic, options);
    metamorphic->add_option("--case", wanted.cases, "Only the case of this exact name")->type_name("NAME");
    metamorphic
        ->add_option("--variant", wanted.variant, "Only variants whose names begin so: knob, passes off, route, ...")
        ->type_name("TEXT");
    metamorphic->add_option("--percent", wanted.percent, "The share of the cases that is run, unless --case names them")
        ->check(CLI::Range(0.0, 100.0))
        ->capture_default_str();
    metamorphic->add_option("--seed", wanted.seed, "Of the share, of random routes and of random weights")
        ->capture_default_str();
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : 2;
    }
    options.limits.memory_bytes = options.memory_mib << 20;
    if (!metamorphic->parsed()) return run(options);
    options.engines = {"native"};
    return run_metamorphic(options, wanted);
}

}  // namespace
}  // namespace headway::conformance

int main(int argc, char** argv) {
    try {
        if (argc == 2 && std::string_view(argv[1]) == "--child") return headway::conformance::serve();
        return headway::conformance::main_of(argc, argv);
    } catch (const headway::UserError& error) {
        std::fprintf(stderr, "onnx_cases: %s\n", error.what());
        return 2;
    }
}
