#include "native_case.h"

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "base/text.h"
#include "staged/staged_engine.h"

namespace headway::conformance {
namespace {

// As many elements as shapes, axes and scales have; what is larger is data.
constexpr int64_t most_fixed = 1024;

using Fixes = bool (*)(size_t index, const Tensor& input);

constexpr Fixes fix_choices[] = {
    [](size_t, const Tensor&) { return false; },
    [](size_t, const Tensor& input) { return !is_float(input.type()) && input.elements() <= most_fixed; },
    [](size_t index, const Tensor& input) { return index > 0 && input.elements() <= most_fixed; },
};

std::vector<Tensor> tensors_of(const Graph& model, std::span<const Datum> inputs) {
    if (inputs.size() != model.inputs.size())
        throw UserError("the model has " + std::to_string(model.inputs.size()) + " inputs, the data " +
                        std::to_string(inputs.size()));
    std::vector<Tensor> tensors;
    for (size_t k = 0; k < inputs.size(); ++k) {
        const auto* tensor = std::get_if<Tensor>(&inputs[k]);
        if (tensor == nullptr)
            throw Unsupported("input " + escaped(model.value(model.inputs[k]).name) + " is " +
                              std::string(kind_of(inputs[k])) + ", which no engine holds");
        tensors.push_back(*tensor);
    }
    return tensors;
}

}  // namespace

Target case_target() {
    Target target = Target::native();
    target.threads = std::max(target.threads, 2);
    return target;
}

std::vector<Datum> as_data(std::vector<Tensor> tensors) {
    return {std::make_move_iterator(tensors.begin()), std::make_move_iterator(tensors.end())};
}

std::vector<Datum> run_staged(const Graph& model, std::span<const Datum> inputs, const Catalogue& catalogue) {
    const Route route = Route::parse("staged.compile_from=0", catalogue.knobs);
    return StagedEngine::make(build_staged(model, {}, route, case_target(), catalogue, {}, {}), catalogue)->run(inputs);
}

NativeCase::NativeCase(Graph model, std::span<const Datum> inputs, const Catalogue& catalogue)
    : model_(std::move(model)), inputs_(tensors_of(model_, inputs)), catalogue_(catalogue), target_(case_target()) {
    std::optional<Unsupported> first;
    for (const Fixes fixes : fix_choices) {
        bindings_ = {};
        for (size_t k = 0; k < inputs_.size(); ++k) {
            const std::string& name = model_.value(model_.inputs[k]).name;
            bindings_.shapes.emplace(name, inputs_[k].shape());
            if (fixes(k, inputs_[k])) bindings_.values.emplace(name, inputs_[k]);
        }
        if (!bindings_.values.empty() && bindings_.values.size() == inputs_.size()) continue;
        try {
            default_ = build(Route());
            return;
        } catch (const Unsupported& error) {
            if (!first) first = error;
        }
    }
    throw *first;
}

std::vector<Tensor> NativeCase::run(const Plan& plan, const Target& target) const {
    EngineInfo info;
    info.target = target.text();
    return Context(Engine::make(plan, info, catalogue_.kernels)).run(inputs_);
}

}  // namespace headway::conformance
