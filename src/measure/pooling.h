// One estimate from several of the same quantity that may differ by more than their errors say.
#pragma once

#include <span>

namespace headway {

struct Estimate {
    double value = 0;
    double standard_error = 0;  // above 0
};

// Weighted mean after DerSimonian and Laird: what the estimates differ by beyond their own errors widens the result's.
// Needs at least one estimate.
Estimate pool(std::span<const Estimate> estimates);

}  // namespace headway
