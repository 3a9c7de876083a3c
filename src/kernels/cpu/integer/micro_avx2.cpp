// Products of 16-bit numbers, two to a sum (vpmaddwd): vpmaddubsw on the bytes themselves would saturate.
#include "kernels/cpu/integer/micro_rows_kernel.h"
#include "kernels/cpu/simd.h"

namespace headway::avx2 {
namespace {

// Bytes at even and odd places become 16-bit numbers where they are.
template <int rows>
void tile(const IntegerTile& tile) {
    constexpr int columns = IntegerMicro::columns, vectors = 2, block = 8 * vectors;
    const __m256i even = _mm256_set1_epi32(0x00FF00FF);
    for (int first = 0; first < columns; first += block) {
        __m256i sums[rows][vectors];
#pragma GCC unroll 4
        for (int r = 0; r < rows; ++r) sums[r][0] = sums[r][1] = _mm256_setzero_si256();
        const int8_t* b = tile.b + 4 * first;
        for (int64_t quad = 0; quad < tile.quads; ++quad, b += 4 * columns) {
            __m256i b_even[vectors], b_odd[vectors];
#pragma GCC unroll 2
            for (int v = 0; v < vectors; ++v) {
                const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(b + 32 * v));
                b_even[v] = _mm256_srai_epi16(_mm256_slli_epi16(bytes, 8), 8);
                b_odd[v] = _mm256_srai_epi16(bytes, 8);
            }
#pragma GCC unroll 4
            for (int r = 0; r < rows; ++r) {
                int32_t bytes;
                __builtin_memcpy(&bytes, tile.a + r * tile.a_step + 4 * quad, sizeof bytes);
                const __m256i a = _mm256_set1_epi32(bytes);
                const __m256i a_even = _mm256_and_si256(a, even), a_odd = _mm256_srli_epi16(a, 8);
#pragma GCC unroll 2
                for (int v = 0; v < vectors; ++v) {
                    sums[r][v] = _mm256_add_epi32(sums[r][v], _mm256_madd_epi16(a_even, b_even[v]));
                    sums[r][v] = _mm256_add_epi32(sums[r][v], _mm256_madd_epi16(a_odd, b_odd[v]));
                }
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
