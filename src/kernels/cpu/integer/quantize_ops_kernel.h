// The loops of quantize_ops.h, written once against `vf`.
#pragma once

#include "kernels/cpu/integer/quantize_ops.h"
#include "kernels/cpu/simd.h"

namespace headway::HEADWAY_ISA {
namespace {

void range(const float* x, int64_t n, float* low, float* high) {
    // max and min give their second operand where the first is NaN.
    vf least = zero(), most = zero();
    int64_t i = 0;
    for (; i + lanes <= n; i += lanes) {
        const vf value = load(x + i);
        least = min(value, least);
        most = max(value, most);
    }
    if (i < n) {  // lanes beyond the end are 0, which counts anyway
        const vf value = load_first(x + i, static_cast<int>(n - i));
        least = min(value, least);
        most = max(value, most);
    }
    *high = largest(most);
    *low = -largest(zero() - least);
}

void quantize(const float* x, int64_t n, float scale, float zero_point, uint8_t* y) {
    const vf divisor = broadcast(scale), shift = broadcast(zero_point), top = broadcast(255);
    float values[lanes];
    for (int64_t i = 0; i < n; i += lanes) {
        const int count = n - i < lanes ? static_cast<int>(n - i) : lanes;
        const vf value = round_even((count == lanes ? load(x + i) : load_first(x + i, count)) / divisor) + shift;
        store(values, min(max(value, zero()), top));
        for (int k = 0; k < count; ++k) y[i + k] = static_cast<uint8_t>(values[k]);
    }
}

}  // namespace

const constinit QuantizeOps quantize_ops{range, quantize};

}  // namespace headway::HEADWAY_ISA
