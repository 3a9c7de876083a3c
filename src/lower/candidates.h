// Every kernel that might run a site in some layout, with a verdict and a predicted time for each.
#pragma once

#include <optional>
#include <vector>

#include "knobs/route.h"
#include "lower/site.h"
#include "passes/pass.h"

namespace headway {

// One legal way to run a site: a kernel and the layouts of the tensors it touches.
struct Form {
    const Kernel* kernel = nullptr;
    Problem problem;  // with layouts
    Choices choices;
    double us = 0;                         // predicted, one core, without reorders
    std::optional<double> nested_us = {};  // the same where tensors may lie inside each other (see part_views.h)
};

// The legal forms of a site, cheapest first, after knobs and thresholds; and one decision for each kernel that serves
// the operator but has no form here. The decisions of legal kernels are written by the caller, who knows which one won.
std::vector<Form> find_forms(const LowerSite& site, const Route& route, const Target& target,
                             const Registry<Kernel>& kernels, std::vector<Decision>& refusals);

// The cheapest kernel for a problem whose layouts are fixed (reorders and copies). InternalError when there is none.
Form cheapest_form(const Problem& problem, const std::vector<std::string>& origins, const Route& route,
                   const Target& target, const Registry<Kernel>& kernels);

}  // namespace headway
