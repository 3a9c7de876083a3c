// Winograd's transforms of image tiles and of products, F(2,3), F(4,3) and F(6,3): a tile of (m+2) x (m+2) pixels
// becomes as many points, and the points' products become m x m output pixels. One table per instruction set.
#pragma once

#include <cstdint>

#include "kernels/target.h"

namespace headway {

struct WinogradTransforms {
    // dst[p * point_step + c] for each point p; src[p] leads to the channels of the tile's pixel p, row by row.
    using Input = void (*)(const float* const* src, float* dst, int64_t point_step, int64_t channels);
    // The first rows x columns output pixels of a tile: bias[c] + transformed src[p * point_step + c].
    struct Tile {
        const float* src;
        int64_t point_step;
        const float* bias;  // whole vectors
        float* dst;
        int64_t row_step, pixel_step;  // floats
        int rows, columns;
        int64_t channels;
    };
    using Output = void (*)(const Tile& tile);

    static constexpr int largest = 6;  // m
    Input inputs[3];                   // of m = 2, 4, 6
    Output outputs[3];

    Input input(int m) const { return inputs[m / 2 - 1]; }
    Output output(int m) const { return outputs[m / 2 - 1]; }
};

const WinogradTransforms& winograd_transforms(Isa isa);

namespace baseline {
extern const WinogradTransforms winograd_transforms;
}
namespace avx2 {
extern const WinogradTransforms winograd_transforms;
}
namespace avx512 {
extern const WinogradTransforms winograd_transforms;
}
namespace emulated512 {
extern const WinogradTransforms winograd_transforms;
}

}  // namespace headway
