// For each output position of one axis: the input positions it is made of. Nearest has one, linear two with a weight.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/kernel.h"

namespace headway {

struct ResizeTable {
    std::vector<int32_t> left, right;  // equal for nearest
    std::vector<float> weight;         // of right
    int64_t times = 0;                 // nearest, each input repeated so often; 0 when it is not like that

    bool same(int64_t a, int64_t b) const {
        const auto i = static_cast<size_t>(a), j = static_cast<size_t>(b);
        return left[i] == left[j] && right[i] == right[j] && weight[i] == weight[j];
    }
};

struct ResizeRules {
    bool linear = false;
    ResizeTable y, x;

    // Images with one or two spatial axes; batch and channels stay.
    static Verdict make(const Problem& problem, ResizeRules& rules);
};

}  // namespace headway
