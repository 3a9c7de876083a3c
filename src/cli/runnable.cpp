#include "cli/runnable.h"

#include <algorithm>

#include "base/error.h"
#include "base/temporary.h"
#include "cli/native_session.h"
#include "compile/compile.h"
#include "data/batch.h"
#include "runtime/engine.h"
#include "runtime/engine_file.h"
#include "staged/staged_engine.h"
#include "workers/foreign/recipe.h"
#include "workers/native/port_specs.h"

namespace headway {
namespace {

class Planned final : public Runnable {
public:
    explicit Planned(std::shared_ptr<const Engine> engine) : context_(engine) {
        for (const Port& port : engine->plan().inputs) inputs.push_back(spec_of(port));
        for (const Port& port : engine->plan().outputs) outputs.push_back(spec_of(port));
    }
    std::vector<Tensor> run(const std::vector<Tensor>& given) override { return context_.run(given); }

private:
    Context context_;
};

class Staged final : public Runnable {
public:
    explicit Staged(const std::string& path) : engine_(StagedEngine::load(path, catalogue_)) {
        for (const StagedPort& port : engine_->inputs()) inputs.push_back(spec_of(port));
        for (const StagedPort& port : engine_->outputs()) outputs.push_back(spec_of(port));
    }
    std::vector<Tensor> run(const std::vector<Tensor>& given) override {
        return tensors_of(engine_->run(std::vector<Datum>(given.begin(), given.end())));
    }

private:
    Catalogue catalogue_;
    std::shared_ptr<const StagedEngine> engine_;
};

std::unique_ptr<Runnable> load(const std::string& engine) {
    if (begins_as_staged_file(engine)) return std::make_unique<Staged>(engine);
    return std::make_unique<Planned>(Engine::load(engine, declared<Kernel>()));
}

}  // namespace

bool is_engine_file(const std::string& path) { return path.ends_with(".hwe") || begins_as_engine_file(path); }

std::unique_ptr<Runnable> open_runnable(const std::string& operand, const BuildOptions& options,
                                        const std::string& route, const std::string& data) {
    if (const std::optional<std::string> builder = recipe_builder(operand))
        throw UserError(operand + " is a recipe for " + *builder +
                        ", which Headway checks and times but does not run for you: its runtime does");
    if (is_engine_file(operand)) {
        if (!route.empty()) throw UserError(operand + " is an engine: --route needs a model");
        return load(operand);
    }
    const TemporaryFolder folder;
    const std::string sample = write_first_sample(data, folder.path() + "/sample");
    const std::unique_ptr<Builder> builder = open_native(operand, options, sample);
    const std::string engine = folder.path() + "/engine.hwe";
    builder->build(route_text(route), engine, "");
    return load(engine);
}

std::string write_first_sample(const std::string& data, const std::string& folder, int64_t batch) {
    if (data.empty()) return "";
    const std::vector<RawSample> samples = read_samples(data);
    if (samples.empty()) throw UserError("no samples in " + data);
    write_sample(folder, batch > 0 ? batch_first(samples, batch).inputs : samples.front().inputs, {});
    return folder;
}

}  // namespace headway
