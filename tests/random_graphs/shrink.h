// Makes a failing trial smaller while it still fails in the same way.
#pragma once

#include <functional>

#include "trial.h"

namespace headway::testing {

// Drops settings of the route, outputs and nodes, cuts the graph below and above nodes, and lessens extents, one at a
// time, until nothing more can go or `budget` calls of `fails` were made.
Trial shrunk(Trial trial, const std::function<bool(const Trial&)>& fails, const Catalogue& catalogue, int budget);

}  // namespace headway::testing
