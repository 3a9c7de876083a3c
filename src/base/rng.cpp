#include "base/rng.h"

#include "base/error.h"

namespace headway {

uint64_t Rng::below(uint64_t bound) {
    HEADWAY_CHECK(bound > 0);
    // the lowest 2^64 mod bound numbers would make small results more likely
    const uint64_t biased = (0 - bound) % bound;
    uint64_t number = next();
    while (number < biased) number = next();
    return number % bound;
}

}  // namespace headway
