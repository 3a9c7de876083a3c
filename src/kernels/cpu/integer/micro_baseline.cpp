#include "kernels/cpu/integer/micro_rows_kernel.h"

namespace headway::baseline {
namespace {

template <int rows>
void tile(const IntegerTile& tile) {
    constexpr int columns = IntegerMicro::columns;
    uint32_t sums[rows][columns] = {};
    const int8_t* b = tile.b;
    for (int64_t quad = 0; quad < tile.quads; ++quad, b += 4 * columns)
        for (int r = 0; r < rows; ++r) {
            const uint8_t* a = tile.a + r * tile.a_step + 4 * quad;
            for (int n = 0; n < columns; ++n) {
                int32_t sum = 0;
                for (int i = 0; i < 4; ++i) sum += a[i] * b[4 * n + i];
                sums[r][n] += static_cast<uint32_t>(sum);
            }
        }
    for (int r = 0; r < rows; ++r)
        for (int n = 0; n < columns; ++n) tile.c[r * columns + n] = static_cast<int32_t>(sums[r][n]);
}

}  // namespace

const constinit IntegerMicro integer_micro{
    4, {nullptr, tile<1>, tile<2>, tile<3>, tile<4>}, move_row, finish_i32, finish_f32};

}  // namespace headway::baseline
