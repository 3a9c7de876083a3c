// The register tiles of the direct convolution: a few neighbouring output pixels of one row times a few output channel
// blocks. One table per instruction set; everything above it is ordinary code compiled once.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/target.h"

namespace headway {

// dst[b][p][lane] = init[b][lane] (or what dst holds) + sum over input channels and taps (y, x) of
// image(channel, y, column + p * stride + x * dilation) * weight(channel, y, x, b, lane). Only kernel rows inside the
// image are given; columns outside of it count as zeros. Steps are in floats.
struct DirectTile {
    const float* image;          // column 0 of the image row under the first kernel row, in the first channel block
    int64_t block;               // channels of one block of the image, at most 16
    int64_t channel_step;        // from a channel to the next in a block
    int64_t column_step;         // from a column to the next
    int64_t channels;            // of all blocks together
    int64_t block_step;          // from an image block to the next
    int64_t rows;                // kernel rows that count
    int64_t row_step;            // from a kernel row to the next in the image
    int64_t column;              // image column under the first kernel column of the first pixel; may be negative
    int64_t width;               // columns of the image
    int64_t stride;              // image columns from a pixel to the next
    int64_t columns;             // kernel columns
    int64_t dilation;            // image columns from a kernel column to the next
    const float* weights;        // [channel block][kernel row][kernel column][channel][output block][lane]
    int64_t weights_block_step;  // from a channel block to the next
    int64_t weights_row_step;    // from a kernel row to the next
    const float* init;           // a value for each output channel, or nullptr to add onto dst
    float* dst;
    int64_t dst_step;  // from an output channel block to the next
    // Weights that are needed soon: while it computes, the tile asks for some, `next_step` bytes for each channel under
    // each tap.
    const std::byte* next;
    int64_t next_step;
};
using DirectTileFunction = void (*)(const DirectTile&);

struct DirectTiles {
    static constexpr int most_blocks = 4, most_pixels = 12;
    int block;                    // output channels of a block
    int pixels[most_blocks + 1];  // most pixels of a tile of so many blocks; 0 = no such tile
    DirectTileFunction tiles[most_blocks + 1][most_pixels + 1];
};

const DirectTiles& direct_tiles(Isa isa);

namespace baseline {
extern const DirectTiles direct_tiles;
}
namespace avx2 {
extern const DirectTiles direct_tiles;
}
namespace avx512 {
extern const DirectTiles direct_tiles;
}
namespace emulated512 {
extern const DirectTiles direct_tiles;
}

}  // namespace headway
