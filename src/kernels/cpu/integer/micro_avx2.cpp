// Products of 16-bit numbers, two to a sum (vpmaddwd): vpmaddubsw on the bytes themselves would saturate.
#include "kernels/cpu/integer/byte_quads_avx2.h"
#include "kernels/cpu/integer/micro_rows_kernel.h"
#include "kernels/cpu/simd.h"

namespace headway::avx2 {
namespace {

template <int rows>
void tile(const IntegerTile& tile) {
    constexpr int columns = IntegerMicro::columns, vectors = 2, block = 8 * vectors;
    for (int first = 0; first < columns; first += block) {
        __m256i sums[rows][vectors];
#pragma GCC unroll 4
        for (int r = 0; r < rows; ++r) sums[r][0] = sums[r][1] = _mm256_setzero_si256();
        const int8_t* b = tile.b + 4 * first;
        for (int64_t quad = 0; quad < tile.quads; ++quad, b += 4 * columns) {
            const WeightQuads<vectors> weights(b);
#pragma GCC unroll 4
            for (int r = 0; r < rows; ++r) {
                int32_t bytes;
                __builtin_memcpy(&bytes, tile.a + r * tile.a_step + 4 * quad, sizeof bytes);
                const __m256i a = _mm256_set1_epi32(bytes);
                weights.add(a, sums[r]);
            }
        }
#pragma GCC unroll 4
        for (int r = 0; r < rows; ++r)
#pragma GCC unroll 2
            for (int v = 0; v < vectors; ++v)
                _mm256_storeu_si256(reinterpret_cast<__m256i*>(tile.c + r * columns + first + 8 * v), sums[r][v]);
    }
}

}  // namespace

const constinit IntegerMicro integer_micro{
    4, {nullptr, tile<1>, tile<2>, tile<3>, tile<4>}, move_row, finish_i32, finish_f32};

}  // namespace headway::avx2
