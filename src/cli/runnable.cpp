#include "cli/runnable.h"

#include <algorithm>

#include "base/error.h"
#include "base/temporary.h"
#include "cli/native_session.h"
#include "data/batch.h"
#include "runtime/engine_file.h"
#include "staged/any_engine.h"
#include "workers/foreign/recipe.h"
#include "workers/native/port_specs.h"

namespace headway {
namespace {

class LoadedRunnable final : public Runnable {
public:
    explicit LoadedRunnable(const std::string& path) : engine_(load_engine(path, catalogue_)), context_(engine_) {
        const auto describe = [this](const auto& in, const auto& out) {
            for (const auto& port : in) inputs.push_back(spec_of(port));
            for (const auto& port : out) outputs.push_back(spec_of(port));
        };
        if (const auto* planned = std::get_if<PlannedPointer>(&engine_))
            describe((*planned)->plan().inputs, (*planned)->plan().outputs);
        else
            describe(std::get<StagedPointer>(engine_)->inputs(), std::get<StagedPointer>(engine_)->outputs());
    }
    std::vector<Tensor> run(const std::vector<Tensor>& given) override { return context_.run(given); }

private:
    Catalogue catalogue_;
    AnyEngine engine_;
    AnyContext context_;
};

}  // namespace

bool is_engine_file(const std::string& path) { return path.ends_with(".hwe") || begins_as_engine_file(path); }

std::unique_ptr<Runnable> open_runnable(const std::string& operand, const BuildOptions& options,
                                        const std::string& route, const std::string& data) {
    if (const std::optional<std::string> builder = recipe_builder(operand))
        throw UserError(operand + " is a recipe for " + *builder +
                        ", which Headway checks and times but does not run for you: its runtime does");
    if (is_engine_file(operand)) {
        if (!route.empty()) throw UserError(operand + " is an engine: --route needs a model");
        return std::make_unique<LoadedRunnable>(operand);
    }
    const TemporaryFolder folder;
    const std::string sample = write_first_sample(data, folder.path() + "/sample");
    const std::unique_ptr<Builder> builder = open_native(operand, options, sample);
    const std::string engine = folder.path() + "/engine.hwe";
    builder->build(route_text(route), engine, "");
    return std::make_unique<LoadedRunnable>(engine);
}

std::string write_first_sample(const std::string& data, const std::string& folder, int64_t batch) {
    if (data.empty()) return "";
    const std::vector<RawSample> samples = read_samples(data);
    if (samples.empty()) throw UserError("no samples in " + data);
    write_sample(folder, batch > 0 ? batch_first(samples, batch).inputs : samples.front().inputs, {});
    return folder;
}

}  // namespace headway
