// What the manager needs of the pipeline.
#pragma once

#include <string_view>
#include <vector>

#include "passes/pass.h"

namespace headway {

struct PhasePlan {
    Phase phase;
    bool repeated;  // until nothing changes
    std::vector<std::string_view> passes;
};

// pipeline.cpp
const std::vector<PhasePlan>& pipeline();

}  // namespace headway
