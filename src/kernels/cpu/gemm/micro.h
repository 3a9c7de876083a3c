// The register tiles under every matrix product here: a few rows of A, each reached through its own pointer, times one
// packed panel of B. Row pointers make one tile serve plain products, 1x1 convolutions with strides, and convolutions
// whose window taps are scattered in the image (segments). One table per instruction set; everything above it is
// ordinary code compiled once.
#pragma once

#include <cstdint>

#include "kernels/target.h"

namespace headway {

// c[row][column] = init[column] (or what c holds) + sum over segments s and k of a[s][row][k] * b[s * run + k][column].
struct GemmTile {
    const float* const* rows;  // pointers of segment 0, one for each row of the tile
    int64_t segments;
    int64_t segment_step;  // pointers from one segment to the next
    int64_t offset;        // floats added to every pointer
    int64_t run;           // consecutive k behind each pointer
    const void* b;         // float or bfloat16, [segments * run][vectors * lanes]
    float* c;
    int64_t c_step;     // floats from one row of c to the next
    const float* init;  // vectors * lanes values, or nullptr to add onto c
    int last;           // lanes of the last vector that exist in c (1..lanes)
};
using GemmTileFunction = void (*)(const GemmTile&);

struct GemmMicro {
    static constexpr int max_vectors = 4;
    static constexpr int most_rows = 12;
    int lanes;
    int rows[max_vectors + 1];  // most rows of a tile that is so many vectors wide; 0 = no such tile
    GemmTileFunction f32[max_vectors + 1][most_rows + 1];
    GemmTileFunction bf16[max_vectors + 1][most_rows + 1];  // B stored as bfloat16, widened when loaded
};

const GemmMicro& gemm_micro(Isa isa);

namespace baseline {
extern const GemmMicro gemm_micro;
}
namespace avx2 {
extern const GemmMicro gemm_micro;
}
namespace avx512 {
extern const GemmMicro gemm_micro;
}
namespace emulated512 {
extern const GemmMicro gemm_micro;
}

}  // namespace headway
