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

// Adds an image row to the output rows from `first` to `last`; the kernel row of the first is at `weights`, the others'
// before it.
template <int first, int last, int vectors>
HEADWAY_INLINE void share_row(const PlanarTile& tile, const float* row, const float* weights,
                              vf (&sums)[PlanarTiles::shared_rows][vectors]) {
    for (int64_t t = 0; t < tile.columns; ++t) {
        vf x[vectors];
        load_vectors<Vectors::beside>(tile, row + tile.taps[t], x);
#pragma GCC unroll 4
        for (int r = first; r <= last; ++r) {
            const vf weight = broadcast(weights[t - (r - first) * tile.columns]);
#pragma GCC unroll 8
            for (int v = 0; v < vectors; ++v) sums[r][v] = fma(x[v], weight, sums[r][v]);
        }
    }
}

template <int vectors>
HEADWAY_INLINE void share_rows(const PlanarTile& tile, const float* row, const float* weights,
                               vf (&sums)[PlanarTiles::shared_rows][vectors]) {
    constexpr int rows = PlanarTiles::shared_rows;
    static_assert(rows == 4, "the ranges below");
    for (int64_t y = 0; y < tile.rows + rows - 1; ++y, row += tile.row_step) {
        const int64_t first = y < tile.rows ? 0 : y - tile.rows + 1, last = y < rows ? y : rows - 1;
        const float* kernel_row = weights + (y - first) * tile.columns;
        switch (first * rows + last) {
            case 0:
                share_row<0, 0>(tile, row, kernel_row, sums);
                break;
            case 1:
                share_row<0, 1>(tile, row, kernel_row, sums);
                break;
            case 2:
                share_row<0, 2>(tile, row, kernel_row, sums);
                break;
            case 3:
                share_row<0, 3>(tile, row, kernel_row, sums);
                break;
            case rows + 2:
                share_row<1, 2>(tile, row, kernel_row, sums);
                break;
            case rows + 3:
                share_row<1, 3>(tile, row, kernel_row, sums);
                break;
            case 2 * rows + 3:
                share_row<2, 3>(tile, row, kernel_row, sums);
                break;
            default:
                share_row<3, 3>(tile, row, kernel_row, sums);
        }
    }
}

template <int vectors>
void shared_tile(const PlanarTile& tile) {
    vf sums[PlanarTiles::shared_rows][vectors];
#pragma GCC unroll 4
    for (int r = 0; r < PlanarTiles::shared_rows; ++r)
#pragma GCC unroll 8
        for (int v = 0; v < vectors; ++v) sums[r][v] = broadcast(tile.init[0]);
    const float* plane = tile.image;
    const float* weights = tile.weights;
    for (int64_t c = 0; c < tile.channels; ++c, plane += tile.channel_step, weights += tile.weights_step)
        share_rows(tile, plane, weights, sums);
    float* dst = tile.dst;
#pragma GCC unroll 4
    for (int r = 0; r < PlanarTiles::shared_rows; ++r, dst += tile.dst_below_step)
        store_vectors<Vectors::beside>(tile, dst, sums[r]);
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

template <int vectors>
constexpr void fill_shared(PlanarTiles& tiles) {
    if constexpr (vectors > 0) {
        tiles.shared[vectors] = shared_tile<vectors>;
        fill_shared<vectors - 1>(tiles);
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
    tiles.shared_vectors = (vector_registers - 1) / (PlanarTiles::shared_rows + 1);
    fill_shared<(vector_registers - 1) / (PlanarTiles::shared_rows + 1)>(tiles);
    return tiles;
}

}  // namespace
}  // namespace headway::HEADWAY_ISA
