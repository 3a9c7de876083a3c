#include "kernels/cpu/gemm/dot.h"

#include "base/checked.h"

namespace headway {

const DotMicro& dot_micro(Isa isa) {
    switch (isa) {
        case Isa::avx512:
            return avx512::dot_micro;
        case Isa::avx2:
            return avx2::dot_micro;
        case Isa::baseline:
            break;
    }
    return baseline::dot_micro;
}

void multiply_rows(const DotMicro& micro, const DotTile& whole, int64_t columns, int64_t rows) {
    const int64_t count = ceil_div(rows, micro.rows[columns]);
    DotTile tile = whole;
    for (int64_t t = 0, row = 0; t < count; ++t) {
        const int64_t next = (t + 1) * rows / count;
        tile.rows = whole.rows + row;
        tile.c = whole.c + row * columns;
        micro.tiles[columns][next - row](tile);
        row = next;
    }
}

}  // namespace headway
