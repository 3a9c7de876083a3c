// The register tiles of dot.h, written once against `vf`.
#pragma once

#include "kernels/cpu/gemm/dot.h"
#include "kernels/cpu/simd.h"

namespace headway::HEADWAY_ISA {
namespace {

// The sums of the lanes of up to `lanes` vectors, each in the lane of its vector's number. Vectors are added two by two
// while they are interleaved, so that many cost little more than one alone.
#if defined(HEADWAY_ISA_AVX512)
// In each quarter the sums of the same quarters of four vectors.
HEADWAY_INLINE __m512 quarter_sums(const vf* v) {
    const __m512 ab = _mm512_add_ps(_mm512_unpacklo_ps(v[0].v, v[1].v), _mm512_unpackhi_ps(v[0].v, v[1].v));
    const __m512 cd = _mm512_add_ps(_mm512_unpacklo_ps(v[2].v, v[3].v), _mm512_unpackhi_ps(v[2].v, v[3].v));
    return _mm512_add_ps(_mm512_shuffle_ps(ab, cd, 0x44), _mm512_shuffle_ps(ab, cd, 0xEE));
}
HEADWAY_INLINE __m512 add_quarters(__m512 a, __m512 b) {
    return _mm512_add_ps(_mm512_shuffle_f32x4(a, b, 0x88), _mm512_shuffle_f32x4(a, b, 0xDD));
}
template <int count>
HEADWAY_INLINE vf lane_sums(const vf (&v)[count]) {
    static_assert(count % 4 == 0 && count <= lanes);
    const __m512 first = quarter_sums(v), second = count > 4 ? quarter_sums(v + (count > 4 ? 4 : 0)) : first;
    const __m512 low = add_quarters(first, second);
    if constexpr (count <= 8)
        return {add_quarters(low, low)};
    else {
        const __m512 third = quarter_sums(v + 8), fourth = count > 12 ? quarter_sums(v + (count > 12 ? 12 : 0)) : third;
        return {add_quarters(low, add_quarters(third, fourth))};
    }
}
#elif defined(HEADWAY_ISA_AVX2)
HEADWAY_INLINE __m256 half_sums(const vf* v) {
    const __m256 ab = _mm256_add_ps(_mm256_unpacklo_ps(v[0].v, v[1].v), _mm256_unpackhi_ps(v[0].v, v[1].v));
    const __m256 cd = _mm256_add_ps(_mm256_unpacklo_ps(v[2].v, v[3].v), _mm256_unpackhi_ps(v[2].v, v[3].v));
    return _mm256_add_ps(_mm256_shuffle_ps(ab, cd, 0x44), _mm256_shuffle_ps(ab, cd, 0xEE));
}
template <int count>
HEADWAY_INLINE vf lane_sums(const vf (&v)[count]) {
    static_assert(count % 4 == 0 && count <= lanes);
    const __m256 first = half_sums(v), second = count > 4 ? half_sums(v + (count > 4 ? 4 : 0)) : first;
    return {_mm256_add_ps(_mm256_permute2f128_ps(first, second, 0x20), _mm256_permute2f128_ps(first, second, 0x31))};
}
#else
template <int count>
HEADWAY_INLINE vf lane_sums(const vf (&v)[count]) {
    static_assert(count % 4 == 0 && count <= lanes);
    vf sums = zero();
    for (int i = 0; i < count; ++i) sums.v[i] = sum(v[i]);
    return sums;
}
#endif

// to[i] = the sum of the lanes of the i-th of all vectors.
template <int from = 0, int count>
HEADWAY_INLINE void store_lane_sums(const vf (&all)[count], float* to) {
    if constexpr (from < count) {
        constexpr int left = count - from, part = left < lanes ? left : lanes, whole = (part + 3) / 4 * 4;
        vf some[whole];
#pragma GCC unroll 16
        for (int i = 0; i < whole; ++i) some[i] = i < part ? all[from + i] : zero();
        store_first(to + from, lane_sums(some), part);
        store_lane_sums<from + part>(all, to);
    }
}

template <int columns, int rows, class Load>
HEADWAY_INLINE void add_products(vf (&sums)[rows][columns], const float* const (&a)[rows], const float* b,
                                 int64_t b_step, int64_t k, Load load_a) {
    vf weights[columns];
#pragma GCC unroll 4
    for (int n = 0; n < columns; ++n) weights[n] = load(b + n * b_step + k);
#pragma GCC unroll 8
    for (int r = 0; r < rows; ++r) {
        const vf x = load_a(a[r] + k);
#pragma GCC unroll 4
        for (int n = 0; n < columns; ++n) sums[r][n] = fma(x, weights[n], sums[r][n]);
    }
}

template <int columns, int rows>
void dot_tile(const DotTile& tile) {
    vf sums[rows][columns];
#pragma GCC unroll 8
    for (int r = 0; r < rows; ++r)
#pragma GCC unroll 4
        for (int n = 0; n < columns; ++n) sums[r][n] = load_first(tile.init + n, 1);
    const int64_t b_step = tile.segments * tile.b_run;
    const float* b = tile.b;
    const float* const* pointers = tile.rows;
    for (int64_t segment = 0; segment < tile.segments; ++segment) {
        const float* a[rows];
#pragma GCC unroll 8
        for (int r = 0; r < rows; ++r) a[r] = pointers[r];
        pointers += tile.segment_step;
        int64_t k = 0;
        for (; k + lanes <= tile.run; k += lanes)
            add_products<columns, rows>(
                sums, a, b, b_step, k, [](const float* p) __attribute__((always_inline)) { return load(p); });
        if (const int rest = static_cast<int>(tile.run - k); rest > 0)
            add_products<columns, rows>(
                sums, a, b, b_step,
                k, [rest](const float* p) __attribute__((always_inline)) { return load_first(p, rest); });
        b += tile.b_run;
    }
    vf all[rows * columns];
#pragma GCC unroll 8
    for (int r = 0; r < rows; ++r)
#pragma GCC unroll 4
        for (int n = 0; n < columns; ++n) all[r * columns + n] = sums[r][n];
    store_lane_sums(all, tile.c);
}

template <int columns, int rows>
constexpr void fill_dots(DotTileFunction (&line)[DotMicro::most_rows + 1]) {
    if constexpr (rows > 0) {
        line[rows] = dot_tile<columns, rows>;
        fill_dots<columns, rows - 1>(line);
    }
}

constexpr DotMicro make_dot_micro() {
    DotMicro micro{};
    micro.lanes = lanes;
    // Sixteen sums where the registers hold them, so that adding up their lanes is shared by as many; else ten.
    constexpr bool many = vector_registers >= 32;
    constexpr int two = many ? 8 : 5, three = many ? 5 : 3, four = many ? 4 : 2;
    micro.rows[1] = 8, micro.rows[2] = two, micro.rows[3] = three, micro.rows[4] = four;
    fill_dots<1, 8>(micro.tiles[1]);
    fill_dots<2, two>(micro.tiles[2]);
    fill_dots<3, three>(micro.tiles[3]);
    fill_dots<4, four>(micro.tiles[4]);
    return micro;
}

}  // namespace
}  // namespace headway::HEADWAY_ISA
