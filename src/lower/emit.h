// Writes the chosen forms as steps, with reorders where a consumer wants another layout than there is.
#pragma once

#include <vector>

#include "lower/layout_assign.h"
#include "runtime/plan.h"

namespace headway {

// Buffers without places yet: inputs, outputs and constants are placed, the rest waits for place_memory.
Plan emit_plan(const Graph& graph, const std::vector<Chosen>& sites, const Route& route, const Target& target,
               const Registry<Kernel>& kernels);

}  // namespace headway
