// The register tiles of dot.h, written once against `vf`.
#pragma once

#include "kernels/cpu/gemm/dot.h"
#include "kernels/cpu/simd.h"

namespace headway::HEADWAY_ISA {
namespace {

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
        for (int n = 0; n < columns; ++n) sums[r][n] = zero();
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
#pragma GCC unroll 8
    for (int r = 0; r < rows; ++r)
#pragma GCC unroll 4
        for (int n = 0; n < columns; ++n) tile.c[r * tile.c_step + n] = tile.init[n] + sum(sums[r][n]);
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
    micro.rows[1] = 8, micro.rows[2] = 5, micro.rows[3] = 3, micro.rows[4] = 2;
    fill_dots<1, 8>(micro.tiles[1]);
    fill_dots<2, 5>(micro.tiles[2]);
    fill_dots<3, 3>(micro.tiles[3]);
    fill_dots<4, 2>(micro.tiles[4]);
    return micro;
}

}  // namespace
}  // namespace headway::HEADWAY_ISA
