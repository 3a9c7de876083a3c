// Runs cases on one engine, in child processes, and judges the outputs.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "batch.h"
#include "case.h"
#include "compile/compile.h"
#include "outcome.h"

namespace headway::conformance {

// `random` names the cases whose values are not compared. Results are in the order of the cases; `progress` is called
// with the number of cases done.
std::vector<CaseResult> run_cases(std::span<const CaseFiles> cases, const std::string& engine,
                                  const std::function<bool(const std::string& name)>& random, const BatchLimits& limits,
                                  const std::function<void(size_t done)>& progress);

// The child's side: the answer to one request that run_cases made.
nlohmann::json handle_case(const nlohmann::json& request, const Catalogue& catalogue);

}  // namespace headway::conformance
