// Whom to confirm: the best of a race, and of those that the race cannot tell apart the simplest. Preference among ties
// acts here, before the confirm test, never after it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace headway {

// What decides between candidates that the race cannot tell apart.
struct Contender {
    int candidate = 0;
    std::vector<double> values;  // race values
    int non_default_knobs = 0;
    double accuracy_margin = 0;  // share of the tolerance left; more is better
    int64_t memory_bytes = 0;
};

// Up to `most` finalists whose race mean reaches the margin, best first; of those tied with the best (the 95 % interval
// of the difference covers 0) the simplest comes first: fewest non-default knobs, then accuracy margin, then memory.
std::vector<int> choose_finalists(std::span<const Contender> contenders, double margin, int most = 3);

}  // namespace headway
