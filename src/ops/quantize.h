// Scales and zero points: one for the whole tensor, one for each position on an axis, or one for each block on it.
#pragma once

#include "ops/op.h"

namespace headway {

// Position in the scale tensor for each element of the input.
struct ScaleMap {
    int64_t inner = 1, extent = 1, entries = 1, block = 1;
    bool blocked = false;

    // UserError when the scale's shape fits none of the three ways.
    static ScaleMap of(const Attributes& attributes, const Shape& x, const Shape& scale);
    int64_t at(int64_t element) const {
        const int64_t position = element / inner % extent / block;
        if (!blocked) return entries == 1 ? 0 : position;
        return (element / (inner * extent) * entries + position) * inner + element % inner;
    }
};

// Range of an integer type of 16 bits or fewer.
struct IntegerRange {
    double low, high;
};
IntegerRange integer_range(ElementType type);

}  // namespace headway
