// Places the buffers of a plan in its arena.
#pragma once

#include "knobs/route.h"
#include "lower/nesting.h"
#include "runtime/plan.h"

namespace headway {

// Lets steps write over operands that nobody reads again, then gives every arena buffer an offset so that buffers alive
// at the same time never overlap, but for those that lie inside each other. Buffers that no step touches leave the
// plan, which numbers the others anew.
void place_memory(Plan& plan, const Nesting& nesting, const Route& route, const Registry<Kernel>& kernels);

}  // namespace headway
