// Runs the metamorphic variants of many cases, in child processes, and counts how they relate to the default engine.
#pragma once

#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "batch.h"
#include "case.h"
#include "compile/compile.h"
#include "variant.h"

namespace headway::conformance {

struct VariantResult {
    std::string case_name, variant;
    Finding finding;
};

struct MetamorphicResults {
    std::vector<VariantResult> variants;
    std::map<std::string, std::string> not_built;  // cases without a native engine, and why
};

// The seeded share of the cases, in percent; at 100 all.
std::vector<CaseFiles> sampled(std::span<const CaseFiles> cases, double percent, uint64_t seed);

// Variants whose name begins with `only`. Light networks get random weights and inputs.
MetamorphicResults run_metamorphic(std::span<const CaseFiles> cases, const std::string& only, uint64_t seed,
                                   const BatchLimits& limits, const std::function<void(size_t done)>& progress);

// The child's side: one request of run_metamorphic. A line before each variant and one with what came of it.
nlohmann::json handle_metamorphic(const nlohmann::json& request, const std::function<void(const nlohmann::json&)>& send,
                                  const Catalogue& catalogue);

// Counts for each sort of variant, refusals by reason, and for each failure a line that runs it again. `command` begins
// that line.
std::string metamorphic_report(const MetamorphicResults& results, const std::string& command);

}  // namespace headway::conformance
