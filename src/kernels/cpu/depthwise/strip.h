// The inner part of depthwise convolutions: a few neighbouring output pixels of one row, all channels. One table per
// instruction set; everything above it is ordinary code compiled once.
#pragma once

#include <cstdint>

#include "kernels/target.h"

namespace headway {

// dst[p][c] = init[c] + sum over taps (y, x) of src[p * pixel_step + y * row_step + x * column_step + c] * weight(y, x,
// c). Only kernel rows inside the image are given, and only columns, or `begin` and `end` say which columns there are.
struct DepthwiseStrip {
    const float* src;
    int64_t pixel_step, row_step, column_step;  // floats
    const float* weights;                       // [channel block][all taps][lanes], at the first tap that counts
    int64_t weight_row_step;                    // floats from one kernel row to the next
    int64_t weight_block_step;                  // floats from one channel block to the next
    int64_t rows, columns;                      // taps that count
    int64_t begin, end;                         // image columns that exist, from src on; read by strips at the edges
    const float* init;                          // whole channel blocks
    float* dst;
    int64_t dst_step;  // floats from one pixel to the next
    int64_t channels;
};
using DepthwiseStripFunction = void (*)(const DepthwiseStrip&);

struct DepthwiseStrips {
    static constexpr int most_pixels = 8;
    int lanes;
    using Line = DepthwiseStripFunction[most_pixels + 1];  // by number of pixels
    Line any;
    // For 3, 5 and 7 columns and neighbouring windows that start one or two columns apart (pixel_step = column_step or
    // twice that): each pixel of the image is loaded once for all windows it is in.
    struct Shared {
        Line inside, edge;  // edge: windows may hang over the sides of the image
    };
    Shared three_by_one, three_by_two, five_by_one, five_by_two, seven_by_one, seven_by_two;
};

const DepthwiseStrips& depthwise_strips(Isa isa);

namespace baseline {
extern const DepthwiseStrips depthwise_strips;
}
namespace avx2 {
extern const DepthwiseStrips depthwise_strips;
}
namespace avx512 {
extern const DepthwiseStrips depthwise_strips;
}
namespace emulated512 {
extern const DepthwiseStrips depthwise_strips;
}

}  // namespace headway
