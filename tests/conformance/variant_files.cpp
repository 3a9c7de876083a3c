#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/subprocess.h"
#include "base/temporary.h"
#include "closeness.h"
#include "data/samples.h"
#include "runtime/engine_file.h"
#include "variant.h"
#include "workers/sample_files.h"

namespace headway::conformance {
namespace {

constexpr double process_seconds = 60;

std::vector<NamedTensor> named(const std::vector<Port>& ports, const std::vector<Tensor>& tensors) {
    std::vector<NamedTensor> list;
    for (size_t k = 0; k < ports.size(); ++k) list.push_back({ports[k].name, tensors[k]});
    return list;
}

Finding reloaded_differs(const VariantInput& input) {
    const TemporaryFolder folder;
    const std::string engine = folder.path() + "/engine.hwe", given = folder.path() + "/given",
                      out = folder.path() + "/out";
    const Plan& plan = input.native.default_build().plan;
    EngineInfo info;
    info.target = input.native.target().text();
    write_engine_file(engine, plan, info);
    write_sample(given, named(plan.inputs, input.native.inputs()), {});

    Subprocess fresh({{"/proc/self/exe", "--child"}, {}, 0});
    fresh.write_line(nlohmann::json{{"do", "engine"}, {"engine", engine}, {"inputs", given}, {"outputs", out}}.dump());
    std::string answer;
    if (fresh.read_line(answer, process_seconds, size_t{1} << 20) != Subprocess::Read::line) {
        const std::string how = fresh.finish(process_seconds).text();
        return {Relation::crash, "the fresh process " + how + ": " + fresh.last_error_line()};
    }
    const Graph& model = input.native.model();
    const std::vector<Datum> got = read_data(out + "/output_", model, model.outputs);
    return found_as(bit_difference(got, as_data(input.outputs)));
}

}  // namespace

std::vector<Variant> file_variants(const VariantInput& input) {
    return {{"reload", [&input] { return reloaded_differs(input); }}};
}

void run_engine_file(const std::string& engine, const std::string& inputs, const std::string& outputs,
                     const Registry<Kernel>& kernels) {
    const std::shared_ptr<const Engine> loaded = Engine::load(engine, kernels);
    const std::vector<Tensor> given = read_sample(inputs, loaded->plan().inputs.size());
    std::vector<std::string> names;
    for (const Port& port : loaded->plan().outputs) names.push_back(port.name);
    write_outputs(outputs, names, Context(loaded).run(given));
}

}  // namespace headway::conformance
