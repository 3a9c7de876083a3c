// The register tiles of the planar convolution: a few output channels times a few vectors of pixels, which lie beside
// one another in a row or, where rows are short, below one another. One table per instruction set; everything above it
// is ordinary code compiled once.
#pragma once

#include <cstdint>

#include "kernels/target.h"

namespace headway {

// dst[o][x] = init[o] + sum over image channels c, kernel rows y and kernel columns t of
// image[c * channel_step + y * row_step + taps[t] + x] * weights[c][y][t][o]. Only kernel rows inside the image are
// given. Steps are in floats.
struct PlanarTile {
    const float* image;  // of the first pixel
    int64_t channels, channel_step;
    int64_t rows, row_step;
    int64_t columns;
    const int64_t* taps;   // offset of each kernel column
    const float* weights;  // [channel][kernel row][kernel column][output channel of the tile]
    int64_t weights_step;  // from a channel to the next
    const float* init;     // a value for each output channel
    float* dst;
    int64_t dst_step;  // from an output channel to the next
    int last;          // lanes of the last vector that exist in dst (1..lanes); of all that lie below one another
    int last_read;     // lanes of the same that may be read from the image
    // From a vector to the one below it.
    int64_t below_step, dst_below_step;
};
using PlanarTileFunction = void (*)(const PlanarTile&);

struct PlanarTiles {
    static constexpr int most_channels = 8, most_vectors = 8;
    int lanes;
    int vectors[most_channels + 1];  // most vectors of a tile of so many output channels; 0 = no such tile
    PlanarTileFunction beside[most_channels + 1][most_vectors + 1];
    PlanarTileFunction below[most_channels + 1][most_vectors + 1];
    // One output channel, as many vectors beside one another of `shared_rows` output rows: rows of the image, which lie
    // next to one another, are loaded once for all windows that they are in.
    static constexpr int shared_rows = 4;
    int shared_vectors;  // most of a tile
    PlanarTileFunction shared[most_vectors + 1];
    // even[i] = from[2 * i], odd[i] = from[2 * i + 1]
    void (*split_pairs)(const float* from, int64_t count, float* even, float* odd);
};

const PlanarTiles& planar_tiles(Isa isa);

namespace baseline {
extern const PlanarTiles planar_tiles;
}
namespace avx2 {
extern const PlanarTiles planar_tiles;
}
namespace avx512 {
extern const PlanarTiles planar_tiles;
}
namespace emulated512 {
extern const PlanarTiles planar_tiles;
}

}  // namespace headway
