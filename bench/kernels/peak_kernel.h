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

// `count` is a multiple of 8 vectors here and below.
float read_loop(const float* from, int64_t count) {
    vf sums[8];
    for (vf& each : sums) each = zero();
    for (int64_t i = 0; i < count; i += 8 * lanes)
        for (int k = 0; k < 8; ++k) sums[k] = sums[k] + load(from + i + k * lanes);
    for (int k = 1; k < 8; ++k) sums[0] = sums[0] + sums[k];
    return sum(sums[0]);
}

void copy_loop(const float* from, float* to, int64_t count) {
    for (int64_t i = 0; i < count; i += 8 * lanes)
        for (int k = 0; k < 8; ++k) store(to + i + k * lanes, load(from + i + k * lanes));
}

}  // namespace headway::HEADWAY_ISA
