#include "cli/runnable.h"

#include <algorithm>

#include "base/error.h"
#include "base/temporary.h"
#include "cli/native_session.h"
#include "compile/compile.h"
#include "data/batch.h"
#include "runtime/engine_file.h"
#include "workers/foreign/recipe.h"

namespace headway {
namespace {

PortSpec spec_of(const Port& port) {
    PortSpec spec{port.name, port.desc.type, port.desc.shape.dims(), std::nullopt};
    if (!port.fixed_value.empty()) {
        Tensor value(port.desc.type, port.desc.shape);
        std::ranges::copy(port.fixed_value, value.mutable_bytes().begin());
        spec.value = value;
    }
    return spec;
}

}  // namespace

bool is_engine_file(const std::string& path) { return path.ends_with(".hwe") || begins_as_engine_file(path); }

std::shared_ptr<const Engine> open_runnable(const std::string& operand, const BuildOptions& options,
                                            const std::string& route, const std::string& data) {
    const Registry<Kernel> kernels = declared<Kernel>();
    if (const std::optional<std::string> builder = recipe_builder(operand))
        throw UserError(operand + " is a recipe for " + *builder +
                        ", which Headway checks and times but does not run for you: its runtime does");
    if (is_engine_file(operand)) {
        if (!route.empty()) throw UserError(operand + " is an engine: --route needs a model");
        return Engine::load(operand, kernels);
    }
    const TemporaryFolder folder;
    const std::string sample = write_first_sample(data, folder.path() + "/sample");
    const std::unique_ptr<Builder> builder = open_native(operand, options, sample);
    const std::string engine = folder.path() + "/engine.hwe";
    builder->build(route_text(route), engine, "");
    return Engine::load(engine, kernels);
}

std::string write_first_sample(const std::string& data, const std::string& folder, int64_t batch) {
    if (data.empty()) return "";
    const std::vector<RawSample> samples = read_samples(data);
    if (samples.empty()) throw UserError("no samples in " + data);
    write_sample(folder, batch > 0 ? batch_first(samples, batch).inputs : samples.front().inputs, {});
    return folder;
}

std::vector<PortSpec> input_specs(const Engine& engine) {
    std::vector<PortSpec> specs;
    for (const Port& port : engine.plan().inputs) specs.push_back(spec_of(port));
    return specs;
}

std::vector<PortSpec> output_specs(const Engine& engine) {
    std::vector<PortSpec> specs;
    for (const Port& port : engine.plan().outputs) specs.push_back(spec_of(port));
    return specs;
}

}  // namespace headway
