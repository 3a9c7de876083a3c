// Products of bytes four deep as AVX2 has them, for the tiles of this folder: bytes at even and odd places become
// 16-bit numbers where they are.
#pragma once

#include "kernels/cpu/simd.h"

namespace headway::avx2 {

// Four weights of each of 8 * vectors columns.
template <int vectors>
struct WeightQuads {
    __m256i even[vectors], odd[vectors];

    [[gnu::always_inline]] explicit WeightQuads(const int8_t* b) {
#pragma GCC unroll 2
        for (int v = 0; v < vectors; ++v) {
            const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(b + 32 * v));
            even[v] = _mm256_srai_epi16(_mm256_slli_epi16(bytes, 8), 8);
            odd[v] = _mm256_srai_epi16(bytes, 8);
        }
    }

    // x: the same four unsigned bytes in every column.
    [[gnu::always_inline]] void add(__m256i x, __m256i (&sums)[vectors]) const {
        const __m256i x_even = _mm256_and_si256(x, _mm256_set1_epi32(0x00FF00FF)), x_odd = _mm256_srli_epi16(x, 8);
#pragma GCC unroll 2
        for (int v = 0; v < vectors; ++v) {
            sums[v] = _mm256_add_epi32(sums[v], _mm256_madd_epi16(x_even, even[v]));
            sums[v] = _mm256_add_epi32(sums[v], _mm256_madd_epi16(x_odd, odd[v]));
        }
    }
};

}  // namespace headway::avx2
