// Ports of native engines as data sets see them.
#pragma once

#include "data/samples.h"
#include "runtime/plan.h"
#include "staged/staged_engine.h"

namespace headway {

PortSpec spec_of(const Port& port);
// Open extents are -1.
PortSpec spec_of(const StagedPort& port);

}  // namespace headway
