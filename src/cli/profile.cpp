// headway profile: where the time of a running engine goes, step by step, beside what the step computes and moves.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/error.h"
#include "base/temporary.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/native_session.h"
#include "cli/options.h"
#include "cli/runnable.h"
#include "kernels/kernel.h"
#include "staged/any_engine.h"
#include "workers/native/port_specs.h"

namespace headway {
namespace {

struct Options {
    std::string operand, route, data;
    BuildOptions build;
    int64_t iterations = 50;
    size_t top = 0;
    bool json = false;
};

struct StepProfile {
    size_t index;
    std::string kernel, site, dst;
    double us = 0;      // of one iteration, on average
    double gflop = 0;   // really computed, as the kernel states it; 0 where it does not
    double mbytes = 0;  // read and written once
    const Step* step = nullptr;
    double constant_mbytes = 0;  // of it, what the engine holds: packed weights and the like
};

std::shared_ptr<const Engine> open_engine(const Options& options, const std::string& folder) {
    std::string engine = options.operand;
    if (!is_engine_file(engine)) {
        const std::string sample = write_first_sample(options.data, folder + "/sample");
        engine = folder + "/engine.hwe";
        open_native(options.operand, options.build, sample)->build(route_text(options.route), engine, "");
    } else if (!options.route.empty()) {
        throw UserError(options.operand + " is an engine: --route needs a model");
    }
    const Catalogue catalogue;
    const AnyEngine loaded = load_engine(engine, catalogue);
    if (std::holds_alternative<StagedPointer>(loaded))
        throw UserError(options.operand +
                        " makes an engine of open shapes, which has no steps of its own: give every "
                        "shape with --shape or --data");
    return std::get<PlannedPointer>(loaded);
}

std::vector<Tensor> inputs_of(const Options& options, const Engine& engine) {
    std::vector<PortSpec> inputs, outputs;
    for (const Port& port : engine.plan().inputs) inputs.push_back(spec_of(port));
    for (const Port& port : engine.plan().outputs) outputs.push_back(spec_of(port));
    const std::vector<Sample> samples =
        options.data.empty() ? generate_samples(inputs, 1, 1) : load_samples(options.data, inputs, outputs);
    return samples.at(0).inputs;
}

std::vector<StepProfile> profile(const Engine& engine, std::vector<int64_t> ns, int64_t iterations) {
    const Registry<Kernel> kernels = declared<Kernel>();
    const Target target = Target::parse(engine.info().target);
    std::vector<StepProfile> steps;
    for (size_t i = 0; i < ns.size(); ++i) {
        const Step& step = engine.plan().steps[i];
        StepProfile& entry = steps.emplace_back();
        entry.index = i;
        entry.kernel = step.kernel;
        entry.site = step.origins.empty() ? "" : escaped(step.origins.front());
        if (!step.problem.dst.empty()) entry.dst = step.problem.dst[0].shape.text();
        entry.step = &step;
        for (int32_t id : step.packed)
            entry.constant_mbytes +=
                static_cast<double>(engine.plan().constants[static_cast<size_t>(id)].bytes.size_bytes()) / 1e6;
        entry.us = static_cast<double>(ns[i]) / 1e3 / static_cast<double>(iterations);
        const Kernel* kernel = kernels.find(step.kernel);
        if (kernel == nullptr || !kernel->fields().work) continue;
        const Work work = kernel->fields().work(step.problem, target, step.choices);
        entry.gflop = work.flops / 1e9;
        entry.mbytes = work.bytes / 1e6;
    }
    return steps;
}

void print(const Engine& engine, std::vector<StepProfile> steps, size_t top) {
    const double total = std::accumulate(steps.begin(), steps.end(), 0.0,
                                         [](double sum, const StepProfile& step) { return sum + step.us; });
    fmt::print("{:.3f} ms in {} steps, {} {}\n", total / 1e3, steps.size(), engine.plan().settings.threads,
               engine.plan().settings.threads == 1 ? "thread" : "threads");
    if (top > 0) {
        std::ranges::stable_sort(steps, std::greater{}, &StepProfile::us);
        steps.resize(std::min(steps.size(), top));
    }
    fmt::print("{:>5} {:>10} {:>6} {:>9} {:>8}  {:<28} {:<18} {}\n", "step", "us", "%", "GFLOP/s", "GB/s", "kernel",
               "output", "site");
    for (const StepProfile& step : steps)
        fmt::print("{:>5} {:>10.1f} {:>6.1f} {:>9.1f} {:>8.1f}  {:<28} {:<18} {}\n", step.index, step.us,
                   100 * step.us / std::max(total, 1e-9), step.gflop * 1e6 / std::max(step.us, 1e-3),
                   step.mbytes * 1e3 / std::max(step.us, 1e-3), step.kernel, step.dst, step.site);
}

// What the step computes on, for scripts that explain its time.
nlohmann::ordered_json facts_of(const StepProfile& entry) {
    const Problem& problem = entry.step->problem;
    const auto desc = [](const TensorDesc& tensor) {
        return nlohmann::ordered_json{{"type", to_string(tensor.type)},
                                      {"shape", std::vector<int64_t>(tensor.shape.begin(), tensor.shape.end())},
                                      {"layout", to_string(tensor.layout)}};
    };
    nlohmann::ordered_json src = nlohmann::ordered_json::array(), dst = src, operands = src;
    for (const auto& tensor : problem.src) src.push_back(tensor ? desc(*tensor) : nlohmann::ordered_json());
    for (const TensorDesc& tensor : problem.operands) operands.push_back(desc(tensor));
    for (const TensorDesc& tensor : problem.dst) dst.push_back(desc(tensor));
    return {{"step", entry.index},
            {"us", entry.us},
            {"gflop", entry.gflop},
            {"mbytes", entry.mbytes},
            {"constant_mbytes", entry.constant_mbytes},
            {"kernel", entry.kernel},
            {"op", problem.op},
            {"src", src},
            {"constant", problem.constant},
            {"operands", operands},
            {"dst", dst},
            {"instructions", problem.epilogue.code.size()},
            {"output", entry.dst},
            {"site", entry.site}};
}

int run(const Options& options) {
    const TemporaryFolder folder;
    const std::shared_ptr<const Engine> engine = open_engine(options, folder.path());
    Context context(engine);
    std::vector<const std::byte*> in;
    const std::vector<Tensor> inputs = inputs_of(options, *engine);
    for (const Tensor& input : inputs) in.push_back(input.bytes().data());
    std::vector<Tensor> outputs;
    std::vector<std::byte*> out;
    for (const Port& port : engine->plan().outputs) {
        outputs.emplace_back(port.desc.type, port.desc.shape);
        out.push_back(outputs.back().mutable_bytes().data());
    }
    std::vector<int64_t> ns(engine->plan().steps.size(), 0);
    const int64_t warmup = std::max<int64_t>(1, options.iterations / 5);
    for (int64_t k = 0; k < warmup; ++k) context.run(in, out);
    for (int64_t k = 0; k < options.iterations; ++k) context.profile(in, out, ns);
    const std::vector<StepProfile> steps = profile(*engine, ns, options.iterations);
    if (!options.json) {
        print(*engine, steps, options.top);
        return exit_yes;
    }
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const StepProfile& step : steps) list.push_back(facts_of(step));
    std::cout << nlohmann::ordered_json{{"engine", options.operand},
                                        {"iterations", options.iterations},
                                        {"threads", engine->plan().settings.threads},
                                        {"target", engine->info().target},
                                        {"arena_mbytes", static_cast<double>(engine->plan().arena_bytes) / 1e6},
                                        {"steps", list}}
                     .dump()
              << "\n";
    return exit_yes;
}

const Command command{
    "profile", "Time each step inside a running engine, or a model built on the spot",
    [](CLI::App& app) -> Command::Action {
        auto options = std::make_shared<Options>();
        app.add_option("operand", options->operand, "An engine file or an ONNX file")
            ->required()
            ->type_name("MODEL|E.hwe");
        app.add_option("--data", options->data, "Inputs: the first sample of a data set (default: generated)")
            ->type_name("DIR");
        app.add_option("--route", options->route, "The route to build a model along, or @FILE")->type_name("R");
        app.add_option("--iterations", options->iterations, "Timed iterations; a fifth as many warm up")
            ->check(CLI::Range(1, 1000000))
            ->capture_default_str();
        app.add_option("--top", options->top, "Only the steps that take longest")->type_name("N");
        add_build_options(app, options->build);
        add_json_option(app, options->json);
        return [options] { return run(*options); };
    }};

}  // namespace
}  // namespace headway
