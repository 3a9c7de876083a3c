// The generated page docs/reference/conformance.md: which operators, versions and types run, and how ONNX's own cases
// come out on each engine.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "case.h"
#include "compile/compile.h"
#include "outcome.h"

namespace headway::conformance {

// One set on one engine; cases[k] gave results[k].
struct SetRun {
    std::string set, engine;
    std::vector<CaseFiles> cases;
    std::vector<CaseResult> results;
};

// Markdown. The sets and engines are columns, in the order of the runs.
std::string coverage_page(std::span<const SetRun> runs, const Catalogue& catalogue);

}  // namespace headway::conformance
