// Writes the chosen forms as steps, with reorders where a consumer wants another layout than there is.
#pragma once

#include <vector>

#include "lower/layout_assign.h"
#include "lower/nesting.h"
#include "runtime/plan.h"

namespace headway {

struct Emitted {
    Plan plan;  // inputs, outputs and constants are placed, the rest waits for place_memory
    Nesting nesting;
};

// Says in `sites` which of them move no bytes, or why they do.
Emitted emit_plan(const Graph& graph, std::vector<Chosen>& sites, const Route& route, const Target& target,
                  const Registry<Kernel>& kernels);

}  // namespace headway
