// The search phase: ask the strategy for routes, try them, visit the engines that are new, tell the strategy, until the
// time that is not kept back is used up or there is nothing left to try.
#pragma once

#include "tuner/ruling.h"

namespace headway {

// False when there is nothing left to try, whatever the time.
bool explore(Session& session, Arena& arena, Trials& trials, const Decider& decider);

}  // namespace headway
