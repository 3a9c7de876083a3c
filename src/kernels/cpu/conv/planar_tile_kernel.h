// The tiles of planar_tile.h, written once against `vf`.
#pragma once

#include "kernels/cpu/conv/planar_tile.h"
#include "kernels/cpu/simd.h"

namespace headway::HEADWAY_ISA {
namespace {

enum class Vectors { beside, below };  // one another

// The vectors of one tap.
template <Vectors lie, int vectors>
HEADWAY_INLINE void load_vectors(const PlanarTile& tile, const float* at, vf (&x)[vectors]) {
    if constexpr (lie == Vectors::beside) {
#pragma GCC unroll 8
        for (int v = 0; v + 1 < vectors; ++v) x[v] = load(at + v * lanes);
        x[vectors - 1] = tile.last_read == lanes ? load(at + (vectors - 1) * lanes)
                                                 : load_first(at + (vectors - 1) * lanes, tile.last_read);
    } else if (tile.last_read == lanes) {
#pragma GCC unroll 8
        for (int v = 0; v < vectors; ++v) x[v] = load(at + v * tile.below_step);
    } else {
#pragma GCC unroll 8
        for (int v = 0; v < vectors; ++v) x[v] = load_first(at + v * tile.below_step, tile.last_read);
    }
}

// One kernel row of one image channel.
template <Vectors lie, int channels, int vectors>
HEADWAY_INLINE void add_row(const PlanarTile& tile, const float* row, const float* weights,
                            vf (&sums)[channels][vectors]) {
    for (int64_t t = 0; t < tile.columns; ++t, weights += channels) {
        vf x[vectors];
        load_vectors<lie>(tile, row + tile.taps[t], x);
#pragma GCC unroll 8
        for (int o = 0; o < channels; ++o) {
            const vf weight = broadcast(weights[o]);
#pragma GCC unroll 8
            for (int v = 0; v < vectors; ++v) sums[o][v] = fma(x[v], weight, sums[o][v]);
        }
    }
}

template <Vectors lie, int vectors>
HEADWAY_INLINE void store_vectors(const PlanarTile& tile, float* dst, const vf (&sums)[vectors]) {
#pragma GCC unroll 8
    for (int v = 0; v < vectors; ++v) {
        if (lie == Vectors::below)
            store_first(dst + v * tile.dst_below_step, sums[v], tile.last);
        else if (v + 1 < vectors)
            store(dst + v * lanes, sums[v]);
        else
            store_first(dst + v * lanes, sums[v], tile.last);
    }
}

template <Vectors lie, int channels, int vectors>
void planar_tile(const PlanarTile& tile) {
    vf sums[channels][vectors];
#pragma GCC unroll 8
    for (int o = 0; o < channels; ++o)
#pragma GCC unroll 8
        for (int v = 0; v < vectors; ++v) sums[o][v] = broadcast(tile.init[o]);
    const float* plane = tile.image;
    const float* plane_weights = tile.weights;
    for (int64_t c = 0; c < tile.channels; ++c, plane += tile.channel_step, plane_weights += tile.weights_step) {
        const float* row = plane;
        const float* weights = plane_weights;
        for (int64_t y = 0; y < tile.rows; ++y, row += tile.row_step, weights += tile.columns * channels)
            add_row<lie>(tile, row, weights, sums);
    }
    float* dst = tile.dst;
#pragma GCC unroll 8
    for (int o = 0; o < channels; ++o, dst += tile.dst_step) store_vectors<lie>(tile, dst, sums[o]);
}

// The compiler turns this loop into shuffles of its instruction set.
void split_pairs(const float* __restrict from, int64_t count, float* __restrict even, float* __restrict odd) {
    for (int64_t i = 0; i < count; ++i) {
        even[i] = from[2 * i];
        odd[i] = from[2 * i + 1];
    }
}

template <Vectors lie, int channels, int vectors>
constexpr void fill_line(PlanarTileFunction (&line)[PlanarTiles::most_vectors + 1]) {
    if constexpr (vectors > 0) {
        line[vectors] = planar_tile<lie, channels, vectors>;
        fill_line<lie, channels, vectors - 1>(line);
    }
}

// As many vectors as leave each sum a register, beside the image's vectors and a weight.
template <int most_channels, int channels = most_channels>
constexpr void fill(PlanarTiles& tiles) {
    if constexpr (channels > 0) {
        constexpr int room = (vector_registers - 1) / (channels + 1);
        constexpr int vectors = room < PlanarTiles::most_vectors ? room : PlanarTiles::most_vectors;
        tiles.vectors[channels] = vectors;
        fill_line<Vectors::beside, channels, vectors>(tiles.beside[channels]);
        fill_line<Vectors::below, channels, vectors>(tiles.below[channels]);
        fill<most_channels, channels - 1>(tiles);
    }
}

template <int most_channels>
constexpr PlanarTiles make_planar_tiles() {
    PlanarTiles tiles{};
    tiles.lanes = lanes;
    tiles.split_pairs = split_pairs;
    fill<most_channels>(tiles);
    return tiles;
}

}  // namespace
}  // namespace headway::HEADWAY_ISA
