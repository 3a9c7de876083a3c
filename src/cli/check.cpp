// headway check: are the outputs of an engine, or of a model built on the spot, those of the reference?
#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
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
#include "cli/operands.h"
#include "cli/options.h"
#include "cli/runnable.h"
#include "workers/sample_files.h"

namespace headway {
namespace {

struct Options {
    std::string operand, route, data, model;
    BuildOptions build;
    GateOptions gate;
    bool json = false;
};

// An engine of any builder, in this process.
class Subject {
public:
    explicit Subject(const Options& options) {
        OperandText operand = parse_operand(options.operand);
        if (!options.route.empty() && (operand.is_engine || !operand.route.empty()))
            throw UserError(options.operand + (operand.is_engine ? " is an engine: --route needs a model"
                                                                 : " has a route already: --route is a second one"));
        const std::string sample = write_first_sample(options.data, folder_.path() + "/sample");
        builder_ = declared<BuilderKind>().find(operand.builder)->make();
        const OpenedModel opened =
            builder_->open(open_request(std::filesystem::absolute(operand.path).string(), options.build, sample));
        inputs = port_specs(opened.inputs);
        outputs = port_specs(opened.outputs);
        model = operand.is_engine ? "" : operand.path;
        engine_ = operand.path;
        if (!operand.is_engine) {
            engine_ = folder_.path() + "/engine.hwe";
            builder_->build(route_text(options.route.empty() ? operand.route : options.route), engine_, "");
        }
        builder_->load(engine_, 1);
    }

    std::vector<Tensor> run(const Sample& sample) {
        const std::string place = folder_.path() + "/run";
        std::vector<NamedTensor> named;
        for (size_t i = 0; i < inputs.size(); ++i) named.push_back({inputs[i].name, sample.inputs[i]});
        write_sample(place, named, {});
        builder_->check(engine_, place, place);
        return load_samples(place, inputs, outputs).at(0).outputs;
    }

    std::vector<PortSpec> inputs, outputs;
    std::string model;  // "" for an engine file

private:
    TemporaryFolder folder_;
    std::unique_ptr<Builder> builder_;
    std::string engine_;
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
std::string reference_model(const Options& options, const Subject& subject, const std::vector<Sample>& samples) {
    if (std::ranges::none_of(samples, [](const Sample& sample) { return sample.outputs.empty(); })) return "";
    if (!options.model.empty()) return options.model;
    if (!subject.model.empty()) return subject.model;
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
    Subject subject(options);
    std::vector<Sample> samples = options.data.empty() ? generate_samples(subject.inputs, 1, 1)
                                                       : load_samples(options.data, subject.inputs, subject.outputs);
    const std::string model = reference_model(options, subject, samples);
    if (!model.empty()) compute_references(options, model, subject.inputs, subject.outputs, samples);
    std::vector<std::string> names;
    for (const PortSpec& port : subject.outputs) names.push_back(port.name);
    GateResult result;
    for (const Sample& sample : samples)
        result.merge(judge(gate, names, subject.run(sample), sample.outputs, sample.origin));
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
        app.add_option("operand", options->operand, "An engine file, an ONNX file, or BUILDER:MODEL[::ROUTE]")
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
