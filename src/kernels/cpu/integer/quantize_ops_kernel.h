// The loops of quantize_ops.h, written once against `vf`.
#pragma once

#include "kernels/cpu/integer/quantize_ops.h"
#include "kernels/cpu/simd.h"

namespace headway::HEADWAY_ISA {
namespace {

// Between integers within their type and a vector of floats.
#if defined(HEADWAY_ISA_AVX512)
HEADWAY_INLINE void store_bytes(uint8_t* y, vf a) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(y), _mm512_cvtepi32_epi8(_mm512_cvttps_epi32(a.v)));
}
HEADWAY_INLINE __m128i sixteen_bytes(const uint8_t* x) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(x)); }
HEADWAY_INLINE vf from_bytes(const uint8_t* x) { return {_mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(sixteen_bytes(x)))}; }
HEADWAY_INLINE vf from_bytes(const int8_t* x) {
    return {_mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(sixteen_bytes(reinterpret_cast<const uint8_t*>(x))))};
}
#elif defined(HEADWAY_ISA_AVX2)
HEADWAY_INLINE void store_bytes(uint8_t* y, vf a) {
    const __m256i low = _mm256_and_si256(_mm256_cvttps_epi32(a.v), _mm256_set1_epi32(0xFF));
    const __m128i words = _mm_packus_epi32(_mm256_castsi256_si128(low), _mm256_extracti128_si256(low, 1));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(y), _mm_packus_epi16(words, words));
}
HEADWAY_INLINE __m128i eight_bytes(const void* x) { return _mm_loadl_epi64(static_cast<const __m128i*>(x)); }
HEADWAY_INLINE vf from_bytes(const uint8_t* x) { return {_mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(eight_bytes(x)))}; }
HEADWAY_INLINE vf from_bytes(const int8_t* x) { return {_mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(eight_bytes(x)))}; }
#else
HEADWAY_INLINE void store_bytes(uint8_t* y, vf a) {
    for (int i = 0; i < lanes; ++i) y[i] = static_cast<uint8_t>(static_cast<int32_t>(a.v[i]));
}
template <class T>
HEADWAY_INLINE vf from_bytes(const T* x) {
    vf r{};
    for (int i = 0; i < lanes; ++i) r.v[i] = static_cast<float>(x[i]);
    return r;
}
#endif

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

// Scale and zero point at an element: `count` of them are read where each has its own.
template <bool each>
HEADWAY_INLINE vf at(const float* values, int64_t i, int count) {
    if (!each) return broadcast(*values);
    return count == lanes ? load(values + i) : load_first(values + i, count);
}

template <bool each>
void quantize_runs(const float* x, int64_t n, const QuantizeScales& scales, float low, uint8_t* y) {
    const vf bottom = broadcast(low), top = broadcast(low + 255);
    const auto step = [&](vf value, int64_t i, int count) {
        const vf steps = round_even(value / at<each>(scales.scale, i, count)) + at<each>(scales.zero, i, count);
        return select_nan(steps, zero(), min(max(steps, bottom), top));
    };
    int64_t i = 0;
    for (; i + lanes <= n; i += lanes) store_bytes(y + i, step(load(x + i), i, lanes));
    if (i == n) return;
    uint8_t rest[lanes];
    const int count = static_cast<int>(n - i);
    store_bytes(rest, step(load_first(x + i, count), i, count));  // lanes beyond the end may be 0 / 0
    for (int k = 0; k < count; ++k) y[i + k] = rest[k];
}

void quantize(const float* x, int64_t n, const QuantizeScales& scales, float low, uint8_t* y) {
    if (scales.each)
        quantize_runs<true>(x, n, scales, low, y);
    else
        quantize_runs<false>(x, n, scales, low, y);
}

template <class T, bool each>
void dequantize_runs(const T* x, int64_t n, const QuantizeScales& scales, float* y) {
    const auto step = [&](vf value, int64_t i, int count) {
        return (value - at<each>(scales.zero, i, count)) * at<each>(scales.scale, i, count);
    };
    int64_t i = 0;
    for (; i + lanes <= n; i += lanes) store(y + i, step(from_bytes(x + i), i, lanes));
    if (i == n) return;
    T rest[lanes] = {};
    const int count = static_cast<int>(n - i);
    for (int k = 0; k < count; ++k) rest[k] = x[i + k];
    store_first(y + i, step(from_bytes(rest), i, count), count);
}

template <class T>
void dequantize(const uint8_t* x, int64_t n, const QuantizeScales& scales, float* y) {
    const auto* from = reinterpret_cast<const T*>(x);
    if (scales.each)
        dequantize_runs<T, true>(from, n, scales, y);
    else
        dequantize_runs<T, false>(from, n, scales, y);
}

// Wider integers, for the compiler to vectorise. A difference of 16 bits is exact in f32, of 32 bits in double: one
// rounding in all.
template <class T, class Wide>
void dequantize_wide(const uint8_t* x, int64_t n, const QuantizeScales& scales, float* y) {
    const auto* from = reinterpret_cast<const T*>(x);
    if (scales.each) {
        for (int64_t i = 0; i < n; ++i)
            y[i] = static_cast<float>((static_cast<Wide>(from[i]) - static_cast<Wide>(scales.zero[i])) *
                                      static_cast<Wide>(scales.scale[i]));
        return;
    }
    const auto scale = static_cast<Wide>(*scales.scale), zero = static_cast<Wide>(*scales.zero);
    for (int64_t i = 0; i < n; ++i) y[i] = static_cast<float>((static_cast<Wide>(from[i]) - zero) * scale);
}

template <class T>
void add(const uint8_t* a, const uint8_t* b, int64_t n, const QuantizedSum& sum, uint8_t* y) {
    const vf a_scale = broadcast(sum.a_scale), b_scale = broadcast(sum.b_scale), shift = broadcast(sum.shift);
    const vf zero = broadcast(sum.zero), low = broadcast(sum.low), high = broadcast(sum.low + 255);
    const auto step = [&](const T* left, const T* right, uint8_t* to) {
        const vf value = fma(from_bytes(left), a_scale, fma(from_bytes(right), b_scale, shift));
        store_bytes(to, min(max(round_even(value) + zero, low), high));
    };
    const auto* left = reinterpret_cast<const T*>(a);
    const auto* right = reinterpret_cast<const T*>(b);
    int64_t i = 0;
    for (; i + lanes <= n; i += lanes) step(left + i, right + i, y + i);
    if (i == n) return;
    T a_rest[lanes] = {}, b_rest[lanes] = {};
    uint8_t y_rest[lanes];
    const int count = static_cast<int>(n - i);
    for (int k = 0; k < count; ++k) a_rest[k] = left[i + k], b_rest[k] = right[i + k];
    step(a_rest, b_rest, y_rest);
    for (int k = 0; k < count; ++k) y[i + k] = y_rest[k];
}

}  // namespace

const constinit QuantizeOps quantize_ops{range,
                                         quantize,
                                         dequantize<uint8_t>,
                                         dequantize<int8_t>,
                                         dequantize_wide<uint16_t, float>,
                                         dequantize_wide<int16_t, float>,
                                         dequantize_wide<int32_t, double>,
                                         add<uint8_t>,
                                         add<int8_t>};

}  // namespace headway::HEADWAY_ISA
