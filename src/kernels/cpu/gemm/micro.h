// The register tiles under every matrix product here: a few rows of A, each reached through its own pointer, times one
// packed panel of B. Row pointers make one tile serve plain products, 1x1 convolutions with strides, and convolutions
// whose window taps are scattered in the image (segments). One table per instruction set; everything above it is
// ordinary code compiled once.
#pragma once

#include <cstdint>

#include "kernels/target.h"

namespace headway {

// How the operands of a product are held: both f32; B stored as bfloat16 and widened when loaded; or both bfloat16, two
// consecutive k in every 32-bit word. Of the last, everything below that counts k, or floats of A, counts such words.
enum class WeightFormat : uint8_t { f32, bf16, bf16_pairs };

// c[row][column] = init[column] (or what c holds) + sum over segments s and k of a[s][row][k] * b[s * run + k][column].
struct GemmTile {
    const float* const* rows;  // pointers of segment 0, one for each row of the tile
    int64_t segments;
    int64_t segment_step;  // pointers from one segment to the next
    int64_t offset;        // floats added to every pointer
    int64_t run;           // consecutive k behind each pointer
    const void* b;         // [segments * run][vectors * lanes] floats, bfloat16 or words
    float* c;
    int64_t c_step;     // floats from one row of c to the next
    const float* init;  // vectors * lanes values, or nullptr to add onto c
    int last;           // lanes of the last vector that exist in c (1..lanes)
    int64_t ahead;      // bytes from each k of b to a cache line that is fetched with it; 0 = none
};
using GemmTileFunction = void (*)(const GemmTile&);

// out[row] = the values behind a[s][row], segment after segment, rounded to bfloat16 (nearest even); a zero follows
// when their number is odd.
struct GemmRounding {
    const float* const* rows;  // as in GemmTile
    int64_t segments;
    int64_t segment_step;
    int64_t offset;
    int64_t run;
    int64_t count;  // of rows
    uint16_t* out;
    int64_t out_step;  // elements from one row of out to the next
};
using GemmRoundingFunction = void (*)(const GemmRounding&);

struct GemmMicro {
    static constexpr int max_vectors = 4;
    static constexpr int most_rows = 12;
    int lanes;
    int rows[max_vectors + 1];  // most rows of a tile that is so many vectors wide; 0 = no such tile
    // A table holds tiles of the first two formats, or those of the last and the rounding that it needs.
    GemmTileFunction f32[max_vectors + 1][most_rows + 1];
    GemmTileFunction bf16[max_vectors + 1][most_rows + 1];
    GemmTileFunction bf16_pairs[max_vectors + 1][most_rows + 1];
    GemmRoundingFunction round;

    bool computes_in_bf16() const { return round != nullptr; }
};
// Nominal speed of products in bf16 against f32: two products in a lane. Some processors (Intel's without AMX) take
// four times as long over them; a route that asks for bf16 is measured.
constexpr double bf16_speed = 2;

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
namespace avx512bf16 {  // needs Target::avx512_bf16
extern const GemmMicro bf16_gemm_micro;
}
namespace emulated512 {
extern const GemmMicro gemm_micro, bf16_gemm_micro;
}

}  // namespace headway
