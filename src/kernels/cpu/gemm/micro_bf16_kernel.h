// The register tiles of micro.h over pairs of bfloat16, and the rounding of A that they need.
#pragma once

#include "kernels/cpu/gemm/micro_kernel.h"
#include "kernels/cpu/simd_bf16.h"

namespace headway::HEADWAY_ISA {

// Outside the nameless namespace, so that micro_kernel.h finds them by their arguments.
struct Pair {
    uint16_t k[2];
};

HEADWAY_INLINE vpairs load_weights(const Pair* p) { return load_pairs(p); }
HEADWAY_INLINE void spread(const float* a, vpairs& x) { x = broadcast_pair(a); }
HEADWAY_INLINE vf add_products(vpairs x, vpairs weights, vf sums) { return dot(x, weights, sums); }

namespace {

void round_rows(const GemmRounding& rounding) {
    const bool odd = (rounding.segments * rounding.run) % 2 != 0;
    for (int64_t row = 0; row < rounding.count; ++row) {
        uint16_t* out = rounding.out + row * rounding.out_step;
        const float* const* pointers = rounding.rows + row;
        for (int64_t segment = 0; segment < rounding.segments; ++segment) {
            const float* in = *pointers + rounding.offset;
            pointers += rounding.segment_step;
            int64_t k = 0;
            for (; k + lanes <= rounding.run; k += lanes) store_as_bf16(out + k, load(in + k), lanes);
            if (const int rest = static_cast<int>(rounding.run - k); rest > 0)
                store_as_bf16(out + k, load_first(in + k, rest), rest);
            out += rounding.run;
        }
        if (odd) *out = 0;
    }
}

template <int one, int two, int three, int four>
constexpr GemmMicro make_bf16_gemm_micro() {
    GemmMicro micro = empty_gemm_micro<one, two, three, four>();
    fill<1, one, Pair>(micro.bf16_pairs[1]);
    fill<2, two, Pair>(micro.bf16_pairs[2]);
    fill<3, three, Pair>(micro.bf16_pairs[3]);
    fill<4, four, Pair>(micro.bf16_pairs[4]);
    micro.round = round_rows;
    return micro;
}

}  // namespace
}  // namespace headway::HEADWAY_ISA
