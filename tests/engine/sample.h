// A small engine with every kind of buffer, over kernels that any version has: out = (x + y) * {2, 3, 4, 5}.
#pragma once

#include "runtime/engine_file.h"

namespace headway::testing {

Plan sample_plan();
EngineInfo sample_info();
// Of open shapes: y = x + {2, 3} for x of n rows, and the places where y is not zero.
EngineFile staged_sample();

}  // namespace headway::testing
