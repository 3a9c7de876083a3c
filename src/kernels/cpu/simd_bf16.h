// Arithmetic on bfloat16, beside simd.h: for *_avx512bf16.cpp, and for *_emulated512.cpp in plain code of the same
// meaning. Products read subnormals as zero and sums are f32, rounded to nearest even, whatever the float mode is.
#pragma once

#include "kernels/cpu/simd.h"

namespace headway::HEADWAY_ISA {

#if defined(HEADWAY_ISA_AVX512)

// A pair of bfloat16 in every lane.
struct vpairs {
    __m512i v;
};
HEADWAY_INLINE vpairs load_pairs(const void* p) { return {_mm512_loadu_si512(p)}; }
HEADWAY_INLINE vpairs broadcast_pair(const void* p) {
    int32_t bits;
    __builtin_memcpy(&bits, p, sizeof bits);
    return {_mm512_set1_epi32(bits)};
}
// c + a0 * b0 + a1 * b1 in every lane.
HEADWAY_INLINE vf dot(vpairs a, vpairs b, vf c) { return {_mm512_dpbf16_ps(c.v, (__m512bh)b.v, (__m512bh)a.v)}; }
// The first n lanes (0 < n <= lanes) rounded to bfloat16, nearest even; memory beyond them is not touched.
HEADWAY_INLINE void store_as_bf16(uint16_t* p, vf a, int n) {
    const __m256i rounded = (__m256i)_mm512_cvtneps_pbh(a.v);
    if (n == lanes)
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), rounded);
    else
        _mm256_mask_storeu_epi16(p, first_mask(n), rounded);
}

#else

struct vpairs {
    generic_i v;
};
HEADWAY_INLINE vpairs load_pairs(const void* p) {
    vpairs r;
    __builtin_memcpy(&r, p, sizeof r);
    return r;
}
HEADWAY_INLINE vpairs broadcast_pair(const void* p) {
    int32_t bits;
    __builtin_memcpy(&bits, p, sizeof bits);
    return {generic_i{} + bits};
}
HEADWAY_INLINE generic_f without_subnormals(generic_i bits) { return (generic_f)((bits & 0x7F800000) != 0 ? bits : 0); }
HEADWAY_INLINE vf dot(vpairs a, vpairs b, vf c) {
    constexpr int32_t high = static_cast<int32_t>(0xFFFF0000U);
    const vf sum = fma({without_subnormals(a.v & high)}, {without_subnormals(b.v & high)}, c);
    return fma({without_subnormals(a.v << 16)}, {without_subnormals(b.v << 16)}, sum);
}
HEADWAY_INLINE void store_as_bf16(uint16_t* p, vf a, int n) {
    for (int i = 0; i < n; ++i) {
        const uint32_t bits = static_cast<uint32_t>(((generic_i)a.v)[i]);
        const bool nan = (bits & 0x7FFFFFFFU) > 0x7F800000U;
        const uint32_t rounded = nan ? bits | 0x400000U : bits + 0x7FFFU + (bits >> 16 & 1U);
        p[i] = static_cast<uint16_t>(rounded >> 16);
    }
}

#endif

}  // namespace headway::HEADWAY_ISA
