// The knobs that pick among kernels of one operator, and the thresholds of the default choice.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernels/kernel.h"
#include "knobs/route.h"

namespace headway {

// The algorithm word that the route forces at a site, or "" for the cost model's choice.
std::string forced_algorithm(const std::string& op, const Route& route, const std::vector<std::string>& origins);
// What the route wants the site's products computed in, where a kernel can; nullopt = the cost model's choice.
std::optional<ComputeFormat> wanted_format(const Route& route, const std::vector<std::string>& origins);
// Whether the route lets kernels of this instruction set stand.
Verdict allowed_isa(Isa isa, const Route& route, const std::vector<std::string>& origins);
// The default choice's filters: legal candidates that are not tried unless forced.
Verdict above_thresholds(const Kernel& kernel, const Problem& problem, const Route& route,
                         const std::vector<std::string>& origins);

}  // namespace headway
