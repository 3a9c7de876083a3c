// The geometry of a pooling problem: windows of an image with one or two spatial axes.
#pragma once

#include <cstdint>

#include "kernels/kernel.h"

namespace headway {

// One spatial axis.
struct PoolAxis {
    int64_t in = 1, out = 1, kernel = 1, stride = 1, dilation = 1, pad_begin = 0, pad_end = 0;

    struct Taps {
        int64_t first = 0;   // position of the first tap inside the input
        int64_t count = 0;   // taps inside the input
        int64_t padded = 0;  // taps inside the input or its padding
    };
    Taps taps(int64_t output) const;
};

struct PoolWindow {
    bool average = false, count_pad = false;
    PoolAxis y, x;

    static Verdict make(const Problem& problem, PoolWindow& window);
};

}  // namespace headway
