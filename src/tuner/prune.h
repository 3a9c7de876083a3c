// A route may carry settings that change nothing: a knob of an operator the model lacks, or one that another setting
// hides.
#pragma once

#include <string>

#include "tuner/trials.h"

namespace headway {

// Drops settings from the route of an engine, one at a time, while what is left builds the same engine: the same
// fingerprint, so nothing is measured again. Uses the time that the budget gives to the search and ends with it, or
// with the user's Ctrl-C, at a route that is right but perhaps not the shortest. The engine's file is then the one that
// the recorded route builds; its trial keeps the route it was found with.
void prune_route(Session& session, Trials& trials, const std::string& fingerprint);

}  // namespace headway
