// How DynamicQuantizeLinear sees values: as u8 with the scale and zero point that their range, with 0, needs.
#pragma once

#include "kernels/cpu/integer/quantize_ops.h"

namespace headway {

struct ByteRange {
    float scale = 0, zero = 0;

    static ByteRange between(float low, float high);  // low <= 0 <= high
    static ByteRange of(const QuantizeOps& ops, const float* x, int64_t n);
    void quantize(const QuantizeOps& ops, const float* x, int64_t n, uint8_t* y) const;
};

}  // namespace headway
