// Register tiles for products with very few columns: sums run in vectors along k, where the tiles of micro.h would
// leave most lanes of a vector of columns unused. They need rows of A with long runs of consecutive values.
#pragma once

#include <cstdint>

#include "kernels/target.h"

namespace headway {

// c[row][column] = init[column] + sum over segments s and k of a[s][row][k] * b[column][s][k].
struct DotTile {
    const float* const* rows;  // pointers of segment 0, one for each row of the tile
    int64_t segments;
    int64_t segment_step;  // pointers from one segment to the next
    int64_t run;           // consecutive k behind each pointer
    const float* b;        // [column][segment][b_run], zeros beyond run
    int64_t b_run;         // run rounded up to whole vectors
    float* c;              // a row is as long as there are columns
    const float* init;
};
using DotTileFunction = void (*)(const DotTile&);

struct DotMicro {
    static constexpr int most_columns = 4;
    static constexpr int most_rows = 8;
    int lanes;
    int rows[most_columns + 1];  // most rows of a tile of so many columns
    DotTileFunction tiles[most_columns + 1][most_rows + 1];
};

const DotMicro& dot_micro(Isa isa);

// Runs `whole`, a tile of any number of rows and of 1 to most_columns columns, in tiles of nearly equal height.
void multiply_rows(const DotMicro& micro, const DotTile& whole, int64_t columns, int64_t rows);

namespace baseline {
extern const DotMicro dot_micro;
}
namespace avx2 {
extern const DotMicro dot_micro;
}
namespace avx512 {
extern const DotMicro dot_micro;
}
namespace emulated512 {
extern const DotMicro dot_micro;
}

}  // namespace headway
