// Products that are quantised again before they leave the registers: tiles of dense products, and depthwise
// convolutions. Signs are those of micro.h: x is moved to unsigned, weights to signed.
#pragma once

#include <cstdint>

#include "kernels/target.h"

namespace headway {

// What a sum becomes: round(min(sum * scale, high)) to nearest even + zero, at least 0, then ^ flip. Signed outputs are
// moved by 128 in high and zero, and back by flip.
struct ByteOutput {
    float high;
    int32_t zero;
    uint8_t flip;
};

// Rows of a are given by addresses: a row is as many segments, each of 4 * quads bytes that stand together. So the
// windows of a convolution are read where they are.
struct ByteTile {
    static constexpr int columns = 32;  // of a panel, as IntegerMicro has them
    static constexpr int narrow_columns = 16;
    const uint8_t* const* a;  // [row][segment]
    int64_t segments, quads;
    int64_t a_offset;       // added to all addresses
    uint8_t a_flip;         // 128 where a's values are yet to be moved
    const int8_t* b;        // one panel: [segment][quad][column][4]
    const int32_t* column;  // added to the sums, for all columns of a panel, as the next two
    const float* scale;
    const int32_t* b_zero;  // nullptr: all 0; else less b_zero[column] * a_sums[row]
    const int32_t* a_sums;
    ByteOutput out;
    uint8_t* y;
    int64_t y_step, width;
};
using ByteTileFunction = void (*)(const ByteTile&);

// One line of output pixels of a depthwise convolution, for one block of channels: 16 to each of the lanes of
// ByteTiles. Pixels are taken `outputs` at a time, from windows of 4 * quads columns that hold all of their taps.
struct DepthwiseTile {
    static constexpr int lane_channels = 16;
    const uint8_t* const* x;  // [line][column]: addresses of input pixels
    int64_t x_line, x_pixel;  // columns from line to line, and from one output pixel's first to the next one's
    int64_t lines, quads;
    int64_t first, width;  // channels of the block; width may be less than the block's
    uint8_t x_flip;
    const int8_t* weights;  // [line][quad][output][depthwise_position(channel)][4 columns]
    const int32_t* column;  // [depthwise_position(channel)], as scale
    const float* scale;
    ByteOutput out;
    uint8_t* y;  // the first pixel's, at channel 0
    int64_t y_step, pixels;
};
using DepthwiseFunction = void (*)(const DepthwiseTile&);

struct ByteTiles {
    static constexpr int most_rows = 8;
    static constexpr int most_outputs = 4;
    int rows;                                // most rows of a tile
    ByteTileFunction narrow[most_rows + 1];  // by rows: panels of at most narrow_columns
    ByteTileFunction wide[most_rows + 1];
    int lanes;                       // of 128 bits, in a block of channels
    DepthwiseFunction depthwise[3];  // 1, 2 and 4 outputs at a time
};

// Interleaving bytes and packing sums back stay within 128 bits: where a channel of a block stands between the two.
constexpr int64_t depthwise_position(int64_t channel, int64_t lanes) {
    const int64_t lane = channel / 16, four = channel % 16 / 4;
    return (four * lanes + lane) * 4 + channel % 4;
}

namespace baseline {
extern const ByteTiles byte_tiles;
}
namespace avx2 {
extern const ByteTiles byte_tiles;
}
namespace avx512vnni {
extern const ByteTiles byte_tiles;
}

}  // namespace headway
