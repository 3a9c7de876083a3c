// headway run: an engine (or a model, built on the spot) on data.
#include <CLI/CLI.hpp>
#include <chrono>
#include <filesystem>
#include <fmt/format.h>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/runnable.h"

namespace headway {
namespace {

struct Options {
    std::string operand, route;
    std::vector<std::string> data, out;
    BuildOptions build;
    bool json = false;
};

// What one output holds, in a line: enough to see that an engine works.
std::string summary(const std::string& name, const Tensor& tensor) {
    double low = 0, high = 0, sum = 0;
    const int64_t count = tensor.elements();
    for (int64_t i = 0; i < count; ++i) {
        const double value = tensor.at(i);
        low = i == 0 ? value : std::min(low, value);
        high = i == 0 ? value : std::max(high, value);
        sum += value;
    }
    return fmt::format("{} {} {}: min {:.6g} mean {:.6g} max {:.6g}", name, to_string(tensor.type()),
                       tensor.shape().text(), low, count > 0 ? sum / static_cast<double>(count) : 0, high);
}

void run_samples(Runnable& engine, const std::vector<Sample>& samples, const std::string& out, bool print,
                 nlohmann::ordered_json& report) {
    for (size_t k = 0; k < samples.size(); ++k) {
        const auto begin = std::chrono::steady_clock::now();
        const std::vector<Tensor> outputs = engine.run(samples[k].inputs);
        const std::chrono::duration<double, std::milli> ms = std::chrono::steady_clock::now() - begin;
        std::vector<NamedTensor> named;
        for (size_t i = 0; i < outputs.size(); ++i) named.push_back({engine.outputs[i].name, outputs[i]});
        std::string folder;
        if (!out.empty()) {
            folder = out + "/test_data_set_" + std::to_string(k);
            write_sample(folder, {}, named);
        }
        report.push_back({{"sample", samples[k].origin}, {"out", folder}, {"first_call_ms", ms.count()}});
        if (!print) continue;
        std::cout << fmt::format("{}  {:.3f} ms{}\n", samples[k].origin, ms.count(),
                                 folder.empty() ? "" : "  -> " + folder);
        for (const NamedTensor& output : named) std::cout << "  " << summary(output.name, output.tensor) << "\n";
    }
}

int run(const Options& options) {
    if (!options.out.empty() && options.out.size() != options.data.size())
        throw UserError(fmt::format("{} --data and {} --out: give one --out for each --data", options.data.size(),
                                    options.out.size()));
    const std::string first = options.data.empty() ? "" : options.data.front();
    const std::unique_ptr<Runnable> engine = open_runnable(options.operand, options.build, options.route, first);
    nlohmann::ordered_json report = nlohmann::ordered_json::array();
    if (options.data.empty()) run_samples(*engine, generate_samples(engine->inputs, 1, 1), "", !options.json, report);
    for (size_t k = 0; k < options.data.size(); ++k)
        run_samples(*engine, load_samples(options.data[k], engine->inputs, engine->outputs),
                    options.out.empty() ? "" : options.out[k], !options.json, report);
    if (options.json) std::cout << nlohmann::ordered_json{{"engine", options.operand}, {"runs", report}}.dump() << "\n";
    return exit_yes;
}

const Command command{
    "run", "Run an engine, or a model built on the spot, on data", [](CLI::App& app) -> Command::Action {
        auto options = std::make_shared<Options>();
        app.add_option("operand", options->operand, "An engine file or an ONNX file")
            ->required()
            ->type_name("MODEL|E.hwe");
        app.add_option("--data", options->data,
                       "ONNX test data, .npz files or one sample folder; may be repeated, in order on one "
                       "loaded engine. Without it inputs are generated")
            ->type_name("DIR");
        app.add_option("--out", options->out, "Where to write test_data_set_k/output_i.pb; one for each --data")
            ->type_name("DIR");
        app.add_option("--route", options->route, "The route to build a model along, or @FILE")->type_name("R");
        add_build_options(app, options->build);
        add_json_option(app, options->json);
        return [options] { return run(*options); };
    }};

}  // namespace
}  // namespace headway
