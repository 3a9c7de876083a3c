// The vector type of the translation unit's instruction set. Only files named *_avx2.cpp, *_avx512.cpp,
// *_avx512bf16.cpp, *_avx512vnni.cpp, *_emulated512.cpp and *_baseline.cpp include this; each is compiled with its own
// flags, so everything here has internal linkage in a namespace of that name: no inline function is shared across
// instruction sets. Such files must not call inline functions of the standard library that could be emitted out of line
// (use plain loops and pointers).
//
// Kernel sources are written once, as headers (*_kernel.h) against `vf`, and included by one file per instruction set.
#pragma once

#include <cstdint>
#include <immintrin.h>

#define HEADWAY_INLINE static inline __attribute__((always_inline))

namespace headway::HEADWAY_ISA {

#if defined(HEADWAY_ISA_AVX512)

inline constexpr int lanes = 16;
inline constexpr int vector_registers = 32;
struct vf {
    __m512 v;
};
HEADWAY_INLINE vf load(const float* p) { return {_mm512_loadu_ps(p)}; }
HEADWAY_INLINE void store(float* p, vf a) { _mm512_storeu_ps(p, a.v); }
HEADWAY_INLINE __mmask16 first_mask(int n) { return static_cast<__mmask16>((1U << n) - 1); }
// The first n lanes (0 <= n <= lanes), the others zero; memory beyond them is not touched.
HEADWAY_INLINE vf load_first(const float* p, int n) { return {_mm512_maskz_loadu_ps(first_mask(n), p)}; }
HEADWAY_INLINE void store_first(float* p, vf a, int n) { _mm512_mask_storeu_ps(p, first_mask(n), a.v); }
// The first n lanes, `fill` in the others.
HEADWAY_INLINE vf load_first_or(const float* p, int n, float fill) {
    return {_mm512_mask_loadu_ps(_mm512_set1_ps(fill), first_mask(n), p)};
}
HEADWAY_INLINE vf broadcast(float x) { return {_mm512_set1_ps(x)}; }
HEADWAY_INLINE vf operator+(vf a, vf b) { return {_mm512_add_ps(a.v, b.v)}; }
HEADWAY_INLINE vf operator-(vf a, vf b) { return {_mm512_sub_ps(a.v, b.v)}; }
HEADWAY_INLINE vf operator*(vf a, vf b) { return {_mm512_mul_ps(a.v, b.v)}; }
HEADWAY_INLINE vf operator/(vf a, vf b) { return {_mm512_div_ps(a.v, b.v)}; }
HEADWAY_INLINE vf fma(vf a, vf b, vf c) { return {_mm512_fmadd_ps(a.v, b.v, c.v)}; }
HEADWAY_INLINE vf sqrt(vf a) { return {_mm512_sqrt_ps(a.v)}; }
// x86 max/min return the second operand when either is NaN: max_nan/min_nan propagate NaN from both sides.
HEADWAY_INLINE vf max(vf a, vf b) { return {_mm512_max_ps(a.v, b.v)}; }
HEADWAY_INLINE vf min(vf a, vf b) { return {_mm512_min_ps(a.v, b.v)}; }
HEADWAY_INLINE vf max_nan(vf a, vf b) {
    return {_mm512_mask_blend_ps(_mm512_cmp_ps_mask(a.v, a.v, _CMP_UNORD_Q), _mm512_max_ps(a.v, b.v), a.v)};
}
HEADWAY_INLINE vf min_nan(vf a, vf b) {
    return {_mm512_mask_blend_ps(_mm512_cmp_ps_mask(a.v, a.v, _CMP_UNORD_Q), _mm512_min_ps(a.v, b.v), a.v)};
}
HEADWAY_INLINE vf floor(vf a) { return {_mm512_roundscale_ps(a.v, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC)}; }
HEADWAY_INLINE vf ceil(vf a) { return {_mm512_roundscale_ps(a.v, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC)}; }
HEADWAY_INLINE vf round_even(vf a) {
    return {_mm512_roundscale_ps(a.v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)};
}
HEADWAY_INLINE vf abs(vf a) { return {_mm512_abs_ps(a.v)}; }
// a < b ? x : y, lane by lane; false where either is NaN.
HEADWAY_INLINE vf select_less(vf a, vf b, vf x, vf y) {
    return {_mm512_mask_blend_ps(_mm512_cmp_ps_mask(a.v, b.v, _CMP_LT_OQ), y.v, x.v)};
}
HEADWAY_INLINE vf select_nan(vf a, vf x, vf y) {
    return {_mm512_mask_blend_ps(_mm512_cmp_ps_mask(a.v, a.v, _CMP_UNORD_Q), y.v, x.v)};
}
// x with the sign bit of s.
HEADWAY_INLINE vf copy_sign(vf x, vf s) {
    const __m512i sign = _mm512_set1_epi32(static_cast<int>(0x80000000U));
    return {
        _mm512_castsi512_ps(_mm512_ternarylogic_epi32(sign, _mm512_castps_si512(s.v), _mm512_castps_si512(x.v), 0xCA))};
}
// 2^n for integral n in [-126, 127].
HEADWAY_INLINE vf exp2_integer(vf n) {
    const __m512i i = _mm512_add_epi32(_mm512_cvtps_epi32(n.v), _mm512_set1_epi32(127));
    return {_mm512_castsi512_ps(_mm512_slli_epi32(i, 23))};
}
// For normal a > 0: exponent e and mantissa m in [1, 2) with a = m * 2^e.
HEADWAY_INLINE vf exponent(vf a) {
    const __m512i e = _mm512_sub_epi32(_mm512_srli_epi32(_mm512_castps_si512(a.v), 23), _mm512_set1_epi32(127));
    return {_mm512_cvtepi32_ps(e)};
}
HEADWAY_INLINE vf mantissa(vf a) {
    const __m512i m = _mm512_and_si512(_mm512_castps_si512(a.v), _mm512_set1_epi32(0x007FFFFF));
    return {_mm512_castsi512_ps(_mm512_or_si512(m, _mm512_set1_epi32(0x3F800000)))};
}
HEADWAY_INLINE float sum(vf a) { return _mm512_reduce_add_ps(a.v); }
HEADWAY_INLINE float largest(vf a) { return _mm512_reduce_max_ps(a.v); }
HEADWAY_INLINE bool any_nan(vf a) { return _mm512_cmp_ps_mask(a.v, a.v, _CMP_UNORD_Q) != 0; }
HEADWAY_INLINE vf load_bf16(const uint16_t* p) {
    const __m512i wide = _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
    return {_mm512_castsi512_ps(_mm512_slli_epi32(wide, 16))};
}

#elif defined(HEADWAY_ISA_AVX2)

inline constexpr int lanes = 8;
inline constexpr int vector_registers = 16;
struct vf {
    __m256 v;
};
HEADWAY_INLINE vf load(const float* p) { return {_mm256_loadu_ps(p)}; }
HEADWAY_INLINE void store(float* p, vf a) { _mm256_storeu_ps(p, a.v); }
alignas(64) static const int32_t mask_table[16] = {-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0};
HEADWAY_INLINE __m256i first_mask(int n) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(mask_table + 8 - n));
}
HEADWAY_INLINE vf load_first(const float* p, int n) { return {_mm256_maskload_ps(p, first_mask(n))}; }
HEADWAY_INLINE void store_first(float* p, vf a, int n) { _mm256_maskstore_ps(p, first_mask(n), a.v); }
HEADWAY_INLINE vf load_first_or(const float* p, int n, float fill) {
    return {_mm256_blendv_ps(_mm256_set1_ps(fill), _mm256_maskload_ps(p, first_mask(n)),
                             _mm256_castsi256_ps(first_mask(n)))};
}
HEADWAY_INLINE vf broadcast(float x) { return {_mm256_set1_ps(x)}; }
HEADWAY_INLINE vf operator+(vf a, vf b) { return {_mm256_add_ps(a.v, b.v)}; }
HEADWAY_INLINE vf operator-(vf a, vf b) { return {_mm256_sub_ps(a.v, b.v)}; }
HEADWAY_INLINE vf operator*(vf a, vf b) { return {_mm256_mul_ps(a.v, b.v)}; }
HEADWAY_INLINE vf operator/(vf a, vf b) { return {_mm256_div_ps(a.v, b.v)}; }
HEADWAY_INLINE vf fma(vf a, vf b, vf c) { return {_mm256_fmadd_ps(a.v, b.v, c.v)}; }
HEADWAY_INLINE vf sqrt(vf a) { return {_mm256_sqrt_ps(a.v)}; }
HEADWAY_INLINE vf max(vf a, vf b) { return {_mm256_max_ps(a.v, b.v)}; }
HEADWAY_INLINE vf min(vf a, vf b) { return {_mm256_min_ps(a.v, b.v)}; }
HEADWAY_INLINE vf max_nan(vf a, vf b) {
    return {_mm256_blendv_ps(_mm256_max_ps(a.v, b.v), a.v, _mm256_cmp_ps(a.v, a.v, _CMP_UNORD_Q))};
}
HEADWAY_INLINE vf min_nan(vf a, vf b) {
    return {_mm256_blendv_ps(_mm256_min_ps(a.v, b.v), a.v, _mm256_cmp_ps(a.v, a.v, _CMP_UNORD_Q))};
}
HEADWAY_INLINE vf floor(vf a) { return {_mm256_floor_ps(a.v)}; }
HEADWAY_INLINE vf ceil(vf a) { return {_mm256_ceil_ps(a.v)}; }
HEADWAY_INLINE vf round_even(vf a) { return {_mm256_round_ps(a.v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)}; }
HEADWAY_INLINE vf abs(vf a) { return {_mm256_andnot_ps(_mm256_set1_ps(-0.0F), a.v)}; }
HEADWAY_INLINE vf select_less(vf a, vf b, vf x, vf y) {
    return {_mm256_blendv_ps(y.v, x.v, _mm256_cmp_ps(a.v, b.v, _CMP_LT_OQ))};
}
HEADWAY_INLINE vf select_nan(vf a, vf x, vf y) {
    return {_mm256_blendv_ps(y.v, x.v, _mm256_cmp_ps(a.v, a.v, _CMP_UNORD_Q))};
}
HEADWAY_INLINE vf copy_sign(vf x, vf s) {
    const __m256 sign = _mm256_set1_ps(-0.0F);
    return {_mm256_or_ps(_mm256_and_ps(sign, s.v), _mm256_andnot_ps(sign, x.v))};
}
HEADWAY_INLINE vf exp2_integer(vf n) {
    const __m256i i = _mm256_add_epi32(_mm256_cvtps_epi32(n.v), _mm256_set1_epi32(127));
    return {_mm256_castsi256_ps(_mm256_slli_epi32(i, 23))};
}
HEADWAY_INLINE vf exponent(vf a) {
    const __m256i e = _mm256_sub_epi32(_mm256_srli_epi32(_mm256_castps_si256(a.v), 23), _mm256_set1_epi32(127));
    return {_mm256_cvtepi32_ps(e)};
}
HEADWAY_INLINE vf mantissa(vf a) {
    const __m256i m = _mm256_and_si256(_mm256_castps_si256(a.v), _mm256_set1_epi32(0x007FFFFF));
    return {_mm256_castsi256_ps(_mm256_or_si256(m, _mm256_set1_epi32(0x3F800000)))};
}
HEADWAY_INLINE float sum(vf a) {
    __m128 s = _mm_add_ps(_mm256_castps256_ps128(a.v), _mm256_extractf128_ps(a.v, 1));
    s = _mm_add_ps(s, _mm_movehl_ps(s, s));
    return _mm_cvtss_f32(_mm_add_ss(s, _mm_movehdup_ps(s)));
}
HEADWAY_INLINE float largest(vf a) {
    __m128 s = _mm_max_ps(_mm256_castps256_ps128(a.v), _mm256_extractf128_ps(a.v, 1));
    s = _mm_max_ps(s, _mm_movehl_ps(s, s));
    return _mm_cvtss_f32(_mm_max_ss(s, _mm_movehdup_ps(s)));
}
HEADWAY_INLINE bool any_nan(vf a) { return _mm256_movemask_ps(_mm256_cmp_ps(a.v, a.v, _CMP_UNORD_Q)) != 0; }
HEADWAY_INLINE vf load_bf16(const uint16_t* p) {
    const __m256i wide = _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
    return {_mm256_castsi256_ps(_mm256_slli_epi32(wide, 16))};
}

#else  // emulated512 and baseline: the compiler's own vectors

#if defined(HEADWAY_ISA_EMULATED512)
inline constexpr int lanes = 16;
inline constexpr int vector_registers = 32;
#else
inline constexpr int lanes = 4;
inline constexpr int vector_registers = 16;
#endif
typedef float generic_f __attribute__((vector_size(lanes * 4)));
typedef int32_t generic_i __attribute__((vector_size(lanes * 4)));
struct vf {
    generic_f v;
};
HEADWAY_INLINE vf load(const float* p) {
    vf r;
    __builtin_memcpy(&r, p, sizeof r);
    return r;
}
HEADWAY_INLINE void store(float* p, vf a) { __builtin_memcpy(p, &a, sizeof a); }
HEADWAY_INLINE vf load_first(const float* p, int n) {
    vf r{};
    for (int i = 0; i < n; ++i) r.v[i] = p[i];
    return r;
}
HEADWAY_INLINE void store_first(float* p, vf a, int n) {
    for (int i = 0; i < n; ++i) p[i] = a.v[i];
}
HEADWAY_INLINE vf load_first_or(const float* p, int n, float fill) {
    vf r{generic_f{} + fill};
    for (int i = 0; i < n; ++i) r.v[i] = p[i];
    return r;
}
HEADWAY_INLINE vf broadcast(float x) { return {generic_f{} + x}; }
HEADWAY_INLINE vf operator+(vf a, vf b) { return {a.v + b.v}; }
HEADWAY_INLINE vf operator-(vf a, vf b) { return {a.v - b.v}; }
HEADWAY_INLINE vf operator*(vf a, vf b) { return {a.v * b.v}; }
HEADWAY_INLINE vf operator/(vf a, vf b) { return {a.v / b.v}; }
HEADWAY_INLINE vf fma(vf a, vf b, vf c) { return {a.v * b.v + c.v}; }
HEADWAY_INLINE vf sqrt(vf a) {
    for (int i = 0; i < lanes; ++i) a.v[i] = __builtin_sqrtf(a.v[i]);
    return a;
}
HEADWAY_INLINE vf max(vf a, vf b) { return {a.v > b.v ? a.v : b.v}; }
HEADWAY_INLINE vf min(vf a, vf b) { return {a.v < b.v ? a.v : b.v}; }
HEADWAY_INLINE vf max_nan(vf a, vf b) { return {a.v != a.v ? a.v : max(a, b).v}; }
HEADWAY_INLINE vf min_nan(vf a, vf b) { return {a.v != a.v ? a.v : min(a, b).v}; }
HEADWAY_INLINE vf floor(vf a) {
    for (int i = 0; i < lanes; ++i) a.v[i] = __builtin_floorf(a.v[i]);
    return a;
}
HEADWAY_INLINE vf ceil(vf a) {
    for (int i = 0; i < lanes; ++i) a.v[i] = __builtin_ceilf(a.v[i]);
    return a;
}
HEADWAY_INLINE vf round_even(vf a) {
    for (int i = 0; i < lanes; ++i) a.v[i] = __builtin_nearbyintf(a.v[i]);
    return a;
}
HEADWAY_INLINE vf abs(vf a) { return {(generic_f)((generic_i)a.v & 0x7FFFFFFF)}; }
HEADWAY_INLINE vf select_less(vf a, vf b, vf x, vf y) { return {a.v < b.v ? x.v : y.v}; }
HEADWAY_INLINE vf select_nan(vf a, vf x, vf y) { return {a.v != a.v ? x.v : y.v}; }
HEADWAY_INLINE vf copy_sign(vf x, vf s) {
    return {(generic_f)(((generic_i)x.v & 0x7FFFFFFF) | ((generic_i)s.v & static_cast<int32_t>(0x80000000U)))};
}
HEADWAY_INLINE vf exp2_integer(vf n) { return {(generic_f)((__builtin_convertvector(n.v, generic_i) + 127) << 23)}; }
HEADWAY_INLINE vf exponent(vf a) { return {__builtin_convertvector(((generic_i)a.v >> 23) - 127, generic_f)}; }
HEADWAY_INLINE vf mantissa(vf a) { return {(generic_f)(((generic_i)a.v & 0x007FFFFF) | 0x3F800000)}; }
HEADWAY_INLINE float sum(vf a) {
    float s = 0;
    for (int i = 0; i < lanes; ++i) s += a.v[i];
    return s;
}
HEADWAY_INLINE float largest(vf a) {
    float s = a.v[0];
    for (int i = 1; i < lanes; ++i) s = a.v[i] > s ? a.v[i] : s;
    return s;
}
HEADWAY_INLINE bool any_nan(vf a) {
    bool any = false;
    for (int i = 0; i < lanes; ++i) any = any || a.v[i] != a.v[i];
    return any;
}
HEADWAY_INLINE vf load_bf16(const uint16_t* p) {
    generic_i wide;
    for (int i = 0; i < lanes; ++i) wide[i] = static_cast<int32_t>(static_cast<uint32_t>(p[i]) << 16);
    return {(generic_f)wide};
}

#endif

// Asks for the cache line at p, into the second-level cache; p may be any address.
HEADWAY_INLINE void fetch(const char* p) { _mm_prefetch(p, _MM_HINT_T1); }
HEADWAY_INLINE vf zero() { return broadcast(0.0F); }

}  // namespace headway::HEADWAY_ISA
