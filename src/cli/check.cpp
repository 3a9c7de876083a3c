// headway check: are the outputs of an engine, or of a model built on the spot, those of the reference?
#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/temporary.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/gate_options.h"
#include "cli/native_session.h"
#include "cli/options.h"
#include "cli/runnable.h"

namespace headway {
namespace {

struct Options {
    std::string operand, route, data, model;
    BuildOptions build;
    GateOptions gate;
    bool json = false;
};

// Reference outputs by the plain operators of the model, for samples that came without.
void compute_references(const Options& options, const std::string& model, const std::vector<PortSpec>& inputs,
                        const std::vector<PortSpec>& outputs, std::vector<Sample>& samples) {
    const TemporaryFolder folder;
    std::unique_ptr<Builder> builder;
    for (size_t k = 0; k < samples.size(); ++k) {
        if (!samples[k].outputs.empty()) continue;
        const std::string place = folder.path() + "/" + std::to_string(k);
        std::vector<NamedTensor> named;
        for (size_t i = 0; i < inputs.size(); ++i) named.push_back({inputs[i].name, samples[k].inputs[i]});
        write_sample(place, named, {});
        if (!builder) builder = open_native(model, options.build, place);
        builder->reference(place, place);
        samples[k].outputs = load_samples(place, inputs, outputs).at(0).outputs;
    }
}

// The model to compute references with, or "" when every sample has its own.
std::string reference_model(const Options& options, const std::vector<Sample>& samples) {
    if (std::ranges::none_of(samples, [](const Sample& sample) { return sample.outputs.empty(); })) return "";
    if (!options.model.empty()) return options.model;
    if (!is_engine_file(options.operand)) return options.operand;
    throw UserError((options.data.empty() ? "generated inputs" : options.data) +
                    " have no reference outputs (output_i.pb); give --model MODEL to compute them");
}

void print(const Options& options, const GateResult& result, size_t samples, bool is_computed) {
    std::cout << fmt::format("{}  {} on {} {}{}, references {}\n", result.pass ? "PASS" : "FAIL", options.operand,
                             samples, samples == 1 ? "sample" : "samples",
                             options.data.empty() ? " of generated (synthetic) inputs" : "",
                             is_computed ? "computed by the plain operators" : "from the data");
    for (const OutputResult& output : result.outputs) {
        const Difference& difference = output.difference;
        std::cout << fmt::format(
            "  {} {}: rel_l2 {:.3g}, max_abs {:.3g}, cosine {:.9g}, {} of {} elements mismatch, {:.3g} % of "
            "the tolerance used\n",
            output.pass ? "pass" : "FAIL", escaped(output.name), difference.rel_l2, difference.max_abs,
            difference.cosine, difference.mismatches, difference.elements, output.margin * 100);
        if (!output.why.empty()) std::cout << "       " << output.why << "\n";
    }
}

int run(const Options& options) {
    const Gate gate = make_gate(options.gate);
    const std::shared_ptr<const Engine> engine =
        open_runnable(options.operand, options.build, options.route, options.data);
    const std::vector<PortSpec> inputs = input_specs(*engine), outputs = output_specs(*engine);
    std::vector<Sample> samples =
        options.data.empty() ? generate_samples(inputs, 1, 1) : load_samples(options.data, inputs, outputs);
    const std::string model = reference_model(options, samples);
    if (!model.empty()) compute_references(options, model, inputs, outputs, samples);
    std::vector<std::string> names;
    for (const PortSpec& port : outputs) names.push_back(port.name);
    Context context(engine);
    GateResult result;
    for (const Sample& sample : samples)
        result.merge(judge(gate, names, context.run(sample.inputs), sample.outputs, sample.origin));
    if (options.json) {
        nlohmann::json json = result;
        json["engine"] = options.operand;
        json["samples"] = samples.size();
        json["synthetic"] = options.data.empty();
        json["references"] = model.empty() ? "data" : "computed";
        std::cout << json.dump() << "\n";
    } else {
        print(options, result, samples.size(), !model.empty());
    }
    return result.pass ? exit_yes : exit_no;
}

const Command command{
    "check", "Compare the outputs of an engine, or of a model built on the spot, with the reference",
    [](CLI::App& app) -> Command::Action {
        auto options = std::make_shared<Options>();
        app.add_option("operand", options->operand, "An engine file or an ONNX file")
            ->required()
            ->type_name("MODEL|E.hwe");
        app.add_option(
               "--data", options->data,
               "ONNX test data, .npz files or one sample folder. Without it inputs are generated from the shapes")
            ->type_name("DIR");
        app.add_option("--model", options->model,
                       "The ONNX file that references are computed from when the data have none")
            ->type_name("MODEL");
        app.add_option("--route", options->route, "The route to build a model along, or @FILE")->type_name("R");
        add_gate_options(app, options->gate);
        add_build_options(app, options->build);
        add_json_option(app, options->json);
        return [options] { return run(*options); };
    }};

}  // namespace
}  // namespace headway
