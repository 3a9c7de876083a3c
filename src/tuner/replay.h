// Judges a study again from its log: the values of all visits from their block times, and the last confirm test from
// its visits. The verdict of a study must follow from what it stored, on any machine.
#pragma once

#include <string>
#include <vector>

#include "measure/confirm.h"
#include "tuner/study.h"

namespace headway {

struct Replay {
    int visits = 0;
    std::string verdict;                      // as replayed; "" when the study has no result
    std::string route;                        // of the delivered engine
    std::vector<std::string> contradictions;  // what the log says and its own data do not
};

Replay replay(const Study& study);

}  // namespace headway
