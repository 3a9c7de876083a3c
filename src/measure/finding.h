// What a measurement may conclude, and in one word why it concluded no more than that.
#pragma once

#include <string_view>

namespace headway {

enum class Finding { faster, slower, no_gain, unstable, unfit };

enum class Why {
    none,
    budget,        // too few visits fitted to test anything
    resolution,    // tested to the end: a gain, if there is one, is smaller than the resolution
    no_contender,  // no candidate looked faster than the margin
    control,       // a copy of the reference differed from the reference
    dropped,       // the guards dropped too many rounds
    clock,         // blocks cannot be made long enough for the clock
};

std::string_view to_string(Finding finding);  // FASTER, SLOWER, NO_GAIN, UNSTABLE, UNFIT
std::string_view to_string(Why why);

}  // namespace headway
