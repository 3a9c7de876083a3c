// The run-time settings of an engine, from the route's thread and memory knobs.
#pragma once

#include "knobs/route.h"
#include "runtime/plan.h"

namespace headway {

Settings settings_of(const Route& route, const Target& target);

}  // namespace headway
