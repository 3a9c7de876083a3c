// What the manager needs of the pipeline, and one pass alone for tests and tools.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "passes/pass.h"

namespace headway {

struct PhasePlan {
    Phase phase;
    bool repeated;  // until nothing changes
    std::vector<std::string_view> passes;
};

// pipeline.cpp
const std::vector<PhasePlan>& pipeline();

// One pass with what the manager does around it: clean-up, verification in debug builds, and a reproducer named in the
// InternalError when it breaks an invariant. True when the graph changed. `before` is asked for the graph as it was,
// for the reproducer: a copy of the graph for each pass would cost more than most passes.
bool run_pass(const Pass& pass, PassContext& context, const std::function<Graph()>& before);

}  // namespace headway
