// Products of 16-bit numbers, two to a sum (vpmaddwd): vpmaddubsw on the bytes themselves would saturate.
#include "kernels/cpu/integer/micro_rows_kernel.h"
#include "kernels/cpu/simd.h"

namespace headway::avx2 {
namespace {

// Four u8 as 16-bit numbers, four times.
HEADWAY_INLINE __m256i widened(const uint8_t* a) {
    int32_t bytes;
    __builtin_memcpy(&bytes, a, sizeof bytes);
    return _mm256_broadcastq_epi64(_mm_cvtepu8_epi16(_mm_cvtsi32_si128(bytes)));
}

template <int rows>
void tile(const IntegerTile& tile) {
    constexpr int columns = IntegerMicro::columns, block = 8;
    for (int first = 0; first < columns; first += block) {
        // Two partial sums a column; columns 0-3 and 4-7.
        __m256i low[rows], high[rows];
#pragma GCC unroll 4
        for (int r = 0; r < rows; ++r) low[r] = high[r] = _mm256_setzero_si256();
        const int8_t* b = tile.b + 4 * first;
        for (int64_t quad = 0; quad < tile.quads; ++quad, b += 4 * columns) {
            const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(b));
            const __m256i b_low = _mm256_cvtepi8_epi16(_mm256_castsi256_si128(bytes));
            const __m256i b_high = _mm256_cvtepi8_epi16(_mm256_extracti128_si256(bytes, 1));
#pragma GCC unroll 4
            for (int r = 0; r < rows; ++r) {
                const __m256i a = widened(tile.a + r * tile.a_step + 4 * quad);
                low[r] = _mm256_add_epi32(low[r], _mm256_madd_epi16(a, b_low));
                high[r] = _mm256_add_epi32(high[r], _mm256_madd_epi16(a, b_high));
            }
        }
#pragma GCC unroll 4
        for (int r = 0; r < rows; ++r) {
            // Adding neighbours leaves columns 0 1 4 5 in the lower half and 2 3 6 7 in the upper one.
            const __m256i sums = _mm256_permute4x64_epi64(_mm256_hadd_epi32(low[r], high[r]), 0xD8);
            _mm256_storeu_si256(reinterpret_cast<__m256i*>(tile.c + r * columns + first), sums);
        }
    }
}

}  // namespace

const constinit IntegerMicro integer_micro{
    4, {nullptr, tile<1>, tile<2>, tile<3>, tile<4>}, move_row, finish_i32, finish_f32};

}  // namespace headway::avx2
