// The tiles of direct_tile.h, written once against `vf`.
#pragma once

#include "kernels/cpu/conv/direct_tile.h"
#include "kernels/cpu/simd.h"

namespace headway::HEADWAY_ISA {
namespace {

// The narrowest blocked layout has 8 channels: two vectors where they are short.
inline constexpr int block = lanes < 8 ? 8 : lanes;
inline constexpr int block_vectors = block / lanes;

inline constexpr int most_channels = 16;              // of an image block
alignas(64) const float outside[most_channels] = {};  // what a tap beyond the image's edge reads

template <int pixels, int vectors>
HEADWAY_INLINE void start(const DirectTile& tile, vf (&sums)[pixels][vectors]) {
#pragma GCC unroll 8
    for (int v = 0; v < vectors; ++v) {
        const float* dst = tile.dst + v / block_vectors * tile.dst_step + v % block_vectors * lanes;
        const vf bias = tile.init != nullptr ? load(tile.init + v * lanes) : zero();
#pragma GCC unroll 16
        for (int p = 0; p < pixels; ++p) sums[p][v] = tile.init != nullptr ? bias : load(dst + p * block);
    }
}

template <int pixels, int vectors>
HEADWAY_INLINE void finish(const DirectTile& tile, const vf (&sums)[pixels][vectors]) {
#pragma GCC unroll 8
    for (int v = 0; v < vectors; ++v) {
        float* dst = tile.dst + v / block_vectors * tile.dst_step + v % block_vectors * lanes;
#pragma GCC unroll 16
        for (int p = 0; p < pixels; ++p) store(dst + p * block, sums[p][v]);
    }
}

// The values of each pixel under one tap: channel c of pixel p is at[p][c * channel_step].
template <int pixels>
struct Values {
    const float* at[pixels];
    int64_t channel_step;
    float gathered[pixels][most_channels];
};

template <int pixels>
HEADWAY_INLINE void find(const DirectTile& tile, const float* row, int64_t column, int64_t channels,
                         Values<pixels>& values) {
    values.channel_step = tile.channel_step;
    if (column >= 0 && column + (pixels - 1) * tile.stride < tile.width) {
        const float* first = row + column * tile.column_step;
        const int64_t step = tile.stride * tile.column_step;
#pragma GCC unroll 16
        for (int p = 0; p < pixels; ++p) values.at[p] = first + p * step;
        return;
    }
    values.channel_step = 1;
#pragma GCC unroll 16
    for (int p = 0; p < pixels; ++p, column += tile.stride)
        values.at[p] = column >= 0 && column < tile.width ? row + column * tile.column_step : outside;
    if (tile.channel_step == 1) return;
    // Zeros have no place among planes: the few channels of a plain image are put together.
    for (int p = 0; p < pixels; ++p) {
        const int64_t step = values.at[p] == outside ? 1 : tile.channel_step;
        for (int64_t c = 0; c < channels; ++c) values.gathered[p][c] = values.at[p][c * step];
        values.at[p] = values.gathered[p];
    }
}

template <int pixels, int vectors>
HEADWAY_INLINE void add_tap(const Values<pixels>& values, const float* weights, int64_t channels,
                            const std::byte*& next, int64_t next_step, vf (&sums)[pixels][vectors]) {
    int64_t at = 0;
#pragma GCC unroll 2
    for (int64_t c = 0; c < channels; ++c, weights += vectors * lanes, at += values.channel_step) {
        vf weight[vectors];
#pragma GCC unroll 8
        for (int v = 0; v < vectors; ++v) weight[v] = load(weights + v * lanes);
        __builtin_prefetch(next);
        next += next_step;
#pragma GCC unroll 16
        for (int p = 0; p < pixels; ++p) {
            const vf x = broadcast(values.at[p][at]);
#pragma GCC unroll 8
            for (int v = 0; v < vectors; ++v) sums[p][v] = fma(x, weight[v], sums[p][v]);
        }
    }
}

template <int blocks, int pixels>
void direct_tile(const DirectTile& tile) {
    constexpr int vectors = blocks * block_vectors;
    vf sums[pixels][vectors];
    start<pixels, vectors>(tile, sums);
    const float* image = tile.image;
    const float* block_weights = tile.weights;
    const std::byte* next = tile.next;
    for (int64_t channel = 0; channel < tile.channels; channel += tile.block) {
        const int64_t channels = tile.block < tile.channels - channel ? tile.block : tile.channels - channel;
        const float* row = image;
        const float* row_weights = block_weights;
        for (int64_t y = 0; y < tile.rows; ++y) {
            const float* weights = row_weights;
            int64_t column = tile.column;
            for (int64_t x = 0; x < tile.columns; ++x) {
                Values<pixels> values;
                find<pixels>(tile, row, column, channels, values);
                add_tap<pixels, vectors>(values, weights, channels, next, tile.next_step, sums);
                weights += tile.block * vectors * lanes;
                column += tile.dilation;
            }
            row += tile.row_step;
            row_weights += tile.weights_row_step;
        }
        image += tile.block_step;
        block_weights += tile.weights_block_step;
    }
    finish<pixels, vectors>(tile, sums);
}

template <int blocks, int pixels>
constexpr void fill(DirectTileFunction (&line)[DirectTiles::most_pixels + 1]) {
    if constexpr (pixels > 0) {
        line[pixels] = direct_tile<blocks, pixels>;
        fill<blocks, pixels - 1>(line);
    }
}

template <int one, int two, int three, int four>
constexpr DirectTiles make_direct_tiles() {
    DirectTiles tiles{};
    tiles.block = block;
    tiles.pixels[1] = one;
    tiles.pixels[2] = two;
    tiles.pixels[3] = three;
    tiles.pixels[4] = four;
    fill<1, one>(tiles.tiles[1]);
    fill<2, two>(tiles.tiles[2]);
    fill<3, three>(tiles.tiles[3]);
    fill<4, four>(tiles.tiles[4]);
    return tiles;
}

}  // namespace
}  // namespace headway::HEADWAY_ISA
