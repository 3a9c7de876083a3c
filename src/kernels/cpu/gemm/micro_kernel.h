// The register tiles of micro.h, written once against `vf`.
#pragma once

#include "kernels/cpu/gemm/micro.h"
#include "kernels/cpu/simd.h"

namespace headway::HEADWAY_ISA {
namespace {

HEADWAY_INLINE vf load_weights(const float* p) { return load(p); }
HEADWAY_INLINE vf load_weights(const uint16_t* p) { return load_bf16(p); }
// micro_bf16_kernel.h overloads these for vectors of pairs.
HEADWAY_INLINE void spread(const float* a, vf& x) { x = broadcast(*a); }
HEADWAY_INLINE vf add_products(vf x, vf weights, vf sums) { return fma(x, weights, sums); }

template <int vectors, int rows>
HEADWAY_INLINE void start(const GemmTile& tile, vf (&sums)[rows][vectors]) {
    if (tile.init != nullptr) {
        for (int v = 0; v < vectors; ++v) {
            const vf bias = load(tile.init + v * lanes);
#pragma GCC unroll 16
            for (int r = 0; r < rows; ++r) sums[r][v] = bias;
        }
        return;
    }
#pragma GCC unroll 16
    for (int r = 0; r < rows; ++r) {
        const float* c = tile.c + r * tile.c_step;
        for (int v = 0; v + 1 < vectors; ++v) sums[r][v] = load(c + v * lanes);
        sums[r][vectors - 1] = load_first(c + (vectors - 1) * lanes, tile.last);
    }
}

template <int vectors, int rows>
HEADWAY_INLINE void finish(const GemmTile& tile, const vf (&sums)[rows][vectors]) {
    const bool whole = tile.last == lanes;
#pragma GCC unroll 16
    for (int r = 0; r < rows; ++r) {
        float* c = tile.c + r * tile.c_step;
        for (int v = 0; v + 1 < vectors; ++v) store(c + v * lanes, sums[r][v]);
        if (whole)
            store(c + (vectors - 1) * lanes, sums[r][vectors - 1]);
        else
            store_first(c + (vectors - 1) * lanes, sums[r][vectors - 1], tile.last);
    }
}

template <int vectors, int rows, class Weight>
void gemm_tile(const GemmTile& tile) {
    vf sums[rows][vectors];
    start<vectors, rows>(tile, sums);
    const Weight* b = static_cast<const Weight*>(tile.b);
    const float* const* pointers = tile.rows;
    for (int64_t segment = 0; segment < tile.segments; ++segment) {
        const float* a[rows];
#pragma GCC unroll 16
        for (int r = 0; r < rows; ++r) a[r] = pointers[r] + tile.offset;
        pointers += tile.segment_step;
#pragma GCC unroll 2
        for (int64_t k = 0; k < tile.run; ++k) {
            decltype(load_weights(b)) weights[vectors], x;
#pragma GCC unroll 4
            for (int v = 0; v < vectors; ++v) weights[v] = load_weights(b + v * lanes);
            fetch(reinterpret_cast<const char*>(b) + tile.ahead);
            b += vectors * lanes;
#pragma GCC unroll 16
            for (int r = 0; r < rows; ++r) {
                spread(a[r] + k, x);
#pragma GCC unroll 4
                for (int v = 0; v < vectors; ++v) sums[r][v] = add_products(x, weights[v], sums[r][v]);
            }
        }
    }
    finish<vectors, rows>(tile, sums);
}

// Fills one line of a table: tiles of `vectors` vectors with 1..rows rows.
template <int vectors, int rows, class Weight>
constexpr void fill(GemmTileFunction (&line)[GemmMicro::most_rows + 1]) {
    if constexpr (rows > 0) {
        line[rows] = gemm_tile<vectors, rows, Weight>;
        fill<vectors, rows - 1, Weight>(line);
    }
}

template <int one, int two, int three, int four>
constexpr GemmMicro empty_gemm_micro() {
    GemmMicro micro{};
    micro.lanes = lanes;
    micro.rows[1] = one;
    micro.rows[2] = two;
    micro.rows[3] = three;
    micro.rows[4] = four;
    return micro;
}

template <int one, int two, int three, int four>
constexpr GemmMicro make_gemm_micro() {
    GemmMicro micro = empty_gemm_micro<one, two, three, four>();
    fill<1, one, float>(micro.f32[1]);
    fill<2, two, float>(micro.f32[2]);
    fill<3, three, float>(micro.f32[3]);
    fill<4, four, float>(micro.f32[4]);
    fill<1, one, uint16_t>(micro.bf16[1]);
    fill<2, two, uint16_t>(micro.bf16[2]);
    fill<3, three, uint16_t>(micro.bf16[3]);
    fill<4, four, uint16_t>(micro.bf16[4]);
    return micro;
}

}  // namespace
}  // namespace headway::HEADWAY_ISA
