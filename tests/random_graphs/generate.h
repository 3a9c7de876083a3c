// Random valid graphs and routes, each from one seed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compile/compile.h"
#include "trial.h"

namespace headway::testing {

// One graph with the ways to build it: the default route, every pass off, and a few random ones.
struct Cases {
    Problem problem;
    std::vector<Way> ways;
};

Cases random_cases(uint64_t seed, const Catalogue& catalogue);

}  // namespace headway::testing
