// A small engine with every kind of buffer, over kernels that any version has: out = (x + y) * {2, 3, 4, 5}.
#pragma once

#include "runtime/engine.h"

namespace headway::testing {

Plan sample_plan();
EngineInfo sample_info();

}  // namespace headway::testing
