// The sums of quarters.h, written once against `vf`.
#pragma once

#include "kernels/cpu/gemm/quarters.h"
#include "kernels/cpu/simd.h"

namespace headway::HEADWAY_ISA {
namespace {

void add_quarters(const float* x, const float* y, float sign, int64_t count, float* out) {
    const vf factor = broadcast(sign);
    int64_t i = 0;
    for (; i + lanes <= count; i += lanes) store(out + i, fma(load(y + i), factor, load(x + i)));
    if (const int rest = static_cast<int>(count - i); rest > 0)
        store_first(out + i, fma(load_first(y + i, rest), factor, load_first(x + i, rest)), rest);
}

void update_quarter(const QuarterUpdate& quarter) {
    const vf factor = broadcast(quarter.sign);
    for (int64_t row = 0; row < quarter.rows; ++row) {
        const float* product = quarter.product + row * quarter.product_step;
        float* dst = quarter.dst + row * quarter.dst_step;
        int64_t i = 0;
        for (; i + lanes <= quarter.columns; i += lanes)
            store(dst + i, fma(load(product + i), factor, load(dst + i) + load(quarter.bias + i)));
        if (const int rest = static_cast<int>(quarter.columns - i); rest > 0)
            store_first(dst + i,
                        fma(load_first(product + i, rest), factor,
                            load_first(dst + i, rest) + load_first(quarter.bias + i, rest)),
                        rest);
    }
}

}  // namespace
}  // namespace headway::HEADWAY_ISA
