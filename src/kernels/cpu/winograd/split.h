// How the tiles and the output channels of a Winograd convolution are cut into units for the threads.
#pragma once

#include <cstdint>

#include "kernels/target.h"

namespace headway {

// A transform moves each point through memory a few times: 0.2 ns for a point's element on Zen 4 (16 to 80 channels),
// as long as ten multiply-adds of full vectors take.
constexpr double winograd_transform_flops = 20;

struct WinogradSize {
    int64_t points;  // of a transformed tile
    int64_t tiles;   // of all images
    int64_t ic, oc;
};

// Share of the peak that products of `tiles` tiles with one matrix reach: the way of the weights through the caches.
double winograd_reuse(double tiles);

struct WinogradSplit {
    int64_t block;         // tiles of a block
    int64_t blocks;        // of tiles; 0 when there are no tiles
    int64_t column_parts;  // of the output channels
};

// Every block of tiles reads all weights, every part of the columns transforms the block's input again: takes the
// cheaper way to give all threads units. `tile_rows` rows and `tile_columns` columns fill a register tile; asked > 0 =
// tiles of a block.
WinogradSplit split_winograd(const WinogradSize& size, int64_t tile_rows, int64_t tile_columns, const Target& target,
                             int64_t asked);

}  // namespace headway
