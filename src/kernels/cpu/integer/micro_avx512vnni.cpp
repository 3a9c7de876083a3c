#include "kernels/cpu/integer/micro_rows_kernel.h"
#include "kernels/cpu/simd.h"

namespace headway::avx512vnni {
namespace {

template <int rows>
void tile(const IntegerTile& tile) {
    __m512i sums[rows][2];
#pragma GCC unroll 8
    for (int r = 0; r < rows; ++r) sums[r][0] = sums[r][1] = _mm512_setzero_si512();
    const int8_t* b = tile.b;
    for (int64_t quad = 0; quad < tile.quads; ++quad, b += 4 * IntegerMicro::columns) {
        const __m512i low = _mm512_loadu_si512(b), high = _mm512_loadu_si512(b + 64);
#pragma GCC unroll 8
        for (int r = 0; r < rows; ++r) {
            int32_t bytes;
            __builtin_memcpy(&bytes, tile.a + r * tile.a_step + 4 * quad, sizeof bytes);
            const __m512i a = _mm512_set1_epi32(bytes);
            sums[r][0] = _mm512_dpbusd_epi32(sums[r][0], a, low);
            sums[r][1] = _mm512_dpbusd_epi32(sums[r][1], a, high);
        }
    }
#pragma GCC unroll 8
    for (int r = 0; r < rows; ++r) {
        _mm512_storeu_si512(tile.c + r * IntegerMicro::columns, sums[r][0]);
        _mm512_storeu_si512(tile.c + r * IntegerMicro::columns + 16, sums[r][1]);
    }
}

}  // namespace

const constinit IntegerMicro integer_micro{
    8,
    {nullptr, tile<1>, tile<2>, tile<3>, tile<4>, tile<5>, tile<6>, tile<7>, tile<8>},
    move_row,
    finish_i32,
    finish_f32};

}  // namespace headway::avx512vnni
