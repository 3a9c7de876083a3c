// Places the buffers of a plan in its arena.
#pragma once

#include "knobs/route.h"
#include "runtime/plan.h"

namespace headway {

// Lets steps write over operands that nobody reads again, then gives every arena buffer an offset so that buffers alive
// at the same time never overlap.
void place_memory(Plan& plan, const Route& route, const Registry<Kernel>& kernels);

}  // namespace headway
