// Twelve independent chains of multiply-adds, more than any core needs to hide their latency.
#pragma once

#include "kernels/cpu/simd.h"
#include "peak.h"

namespace headway::HEADWAY_ISA {

float multiply_add_loop(int rounds) {
    vf sums[multiply_adds_per_round];
#pragma GCC unroll 12
    for (int i = 0; i < multiply_adds_per_round; ++i) sums[i] = broadcast(static_cast<float>(i));
    const vf factor = broadcast(0.5F);
    for (int round = 0; round < rounds; ++round) {
#pragma GCC unroll 12
        for (int i = 0; i < multiply_adds_per_round; ++i) sums[i] = fma(sums[i], factor, factor);
    }
    vf total = zero();
#pragma GCC unroll 12
    for (int i = 0; i < multiply_adds_per_round; ++i) total = total + sums[i];
    return sum(total);
}

}  // namespace headway::HEADWAY_ISA
