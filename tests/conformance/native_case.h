// A case as the native compiler sees it: the model with its inputs bound to the shapes of the data.
#pragma once

#include <span>
#include <vector>

#include "compile/compile.h"
#include "runtime/engine.h"
#include "tensor/datum.h"

namespace headway::conformance {

// This machine, with two threads at least, so that steps are split.
Target case_target();

std::vector<Datum> as_data(std::vector<Tensor> tensors);

// An engine of open shapes for what the model leaves open. Cases are small, so its parts are compiled from the first
// element on.
std::vector<Datum> run_staged(const Graph& model, std::span<const Datum> inputs, const Catalogue& catalogue);

class NativeCase {
public:
    // Builds along the default route. An engine has static shapes, so what decides them is fixed to the data's value
    // (as --value does) where that is needed: first nothing, then integers, then every small input but the first; one
    // input at least stays open. Unsupported with the first reason when nothing helps.
    NativeCase(Graph model, std::span<const Datum> inputs, const Catalogue& catalogue);

    const Graph& model() const { return model_; }
    const std::vector<Tensor>& inputs() const { return inputs_; }
    const Bindings& bindings() const { return bindings_; }
    const Target& target() const { return target_; }
    const Build& default_build() const { return default_; }

    Build build(const Route& route) const { return build(route, target_); }
    Build build(const Route& route, const Target& target) const {
        return headway::build(model_, bindings_, route, target, catalogue_);
    }
    std::vector<Tensor> run(const Route& route) const { return run(build(route).plan); }
    std::vector<Tensor> run(const Plan& plan) const { return run(plan, target_); }
    std::vector<Tensor> run(const Plan& plan, const Target& target) const;

private:
    Graph model_;
    std::vector<Tensor> inputs_;
    const Catalogue& catalogue_;
    Target target_;
    Bindings bindings_;
    Build default_;
};

}  // namespace headway::conformance
