// headway build: one engine along one route.
#include <CLI/CLI.hpp>
#include <chrono>
#include <filesystem>
#include <fmt/format.h>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/temporary.h"
#include "cli/command.h"
#include "cli/native_session.h"
#include "cli/options.h"
#include "cli/runnable.h"

namespace headway {
namespace {

struct Options {
    std::string model, route, engine, data, ledger;
    BuildOptions build;
    bool json = false;
};

std::string default_engine(const std::string& model) {
    return std::filesystem::path(model).filename().replace_extension(".hwe").string();
}

int run(const Options& options) {
    const auto begin = std::chrono::steady_clock::now();
    const std::string engine = options.engine.empty() ? default_engine(options.model) : options.engine;
    const TemporaryFolder folder;
    const std::string sample = write_first_sample(options.data, folder.path() + "/sample");
    const std::unique_ptr<Builder> builder = open_native(options.model, options.build, sample);
    const BuiltEngine built = builder->build(route_text(options.route), engine, options.ledger);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (options.json) {
        std::cout << nlohmann::ordered_json{{"engine", engine},
                                            {"fingerprint", built.fingerprint},
                                            {"route", built.route},
                                            {"seconds", seconds},
                                            {"bytes", built.bytes}}
                         .dump()
                  << "\n";
    } else {
        std::cout << fmt::format("{}\n  route        {}\n  fingerprint  {}\n  bytes        {}\n  seconds      {:.2f}\n",
                                 engine, built.route.empty() ? "(default)" : built.route, built.fingerprint,
                                 built.bytes, seconds);
    }
    return exit_yes;
}

const Command build{
    "build", "Build one engine along one route", [](CLI::App& app) -> Command::Action {
        auto options = std::make_shared<Options>();
        app.add_option("model", options->model, "The ONNX file")->required()->type_name("MODEL");
        app.add_option("--route", options->route,
                       "Settings such as conv.algorithm=winograd4,conv.algorithm@/head/*=rows, or @FILE")
            ->type_name("R");
        app.add_option("-o,--output", options->engine, "The engine file; default: the model's name with .hwe")
            ->type_name("E.hwe");
        app.add_option("--data", options->data, "Data whose first sample binds open dimensions")->type_name("DIR");
        app.add_option("--ledger", options->ledger, "Also write every candidate and refusal as JSON here")
            ->type_name("FILE");
        add_build_options(app, options->build);
        add_json_option(app, options->json);
        return [options] { return run(*options); };
    }};

}  // namespace
}  // namespace headway
