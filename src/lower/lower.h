// Graph -> Plan: chooses layouts and kernels per site together, orders the steps, places memory, and writes every
// candidate's verdict into the ledger.
#pragma once

#include <vector>

#include "graph/graph.h"
#include "kernels/kernel.h"
#include "knobs/route.h"
#include "passes/pass.h"
#include "runtime/plan.h"

namespace headway {

// `graph` is what the pass pipeline left: static shapes, plain nodes and Groups. A Group that no kernel supports whole
// is split into its anchor and its pointwise rest, and the ledger says so. Unsupported names a node that nothing can
// run.
Plan lower(const Graph& graph, const Route& route, const Target& target, const Registry<Kernel>& kernels,
           std::vector<Decision>& ledger);

}  // namespace headway
