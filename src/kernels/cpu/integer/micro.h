// Register tiles of exact products of 8-bit integers with sums in i32 that wrap. The left operand is unsigned, the
// right one signed: operands of the other sign are moved by 128, and their zero points with them (integer/product.h).
#pragma once

#include <cstdint>

#include "kernels/target.h"

namespace headway {

// c[row][column] = sum over k of a[row][k] * b[k][column], for the columns of one panel.
struct IntegerTile {
    const uint8_t* a;  // rows of 4 * quads values
    int64_t a_step;    // values from row to row
    const int8_t* b;   // [quad][column][4]
    int64_t quads;
    int32_t* c;  // [row][IntegerMicro::columns]
};
using IntegerTileFunction = void (*)(const IntegerTile&);

// One row of a tile on its way out. Its sums are exact modulo 2^32:
//     c[j] + column[j] - b_zero[j] * sum, for j < width
struct IntegerRow {
    const int32_t* c;
    const int32_t* column;  // what is the same for all rows
    const int32_t* b_zero;  // nullptr: all 0
    int32_t sum;            // of the row of a
    int64_t width;
};

struct IntegerMicro {
    static constexpr int columns = 32;  // of a panel, on every instruction set
    static constexpr int most_rows = 8;
    int rows;  // most rows of a tile
    IntegerTileFunction tiles[most_rows + 1];
    // to[k] = from[k] ^ flip; the sum of them.
    int32_t (*move_row)(const uint8_t* from, int64_t n, uint8_t flip, uint8_t* to);
    void (*finish_i32)(const IntegerRow& row, int32_t* y);
    // sum * scale[j] + bias[j]
    void (*finish_f32)(const IntegerRow& row, const float* scale, const float* bias, float* y);
};

namespace baseline {
extern const IntegerMicro integer_micro;
}
namespace avx2 {
extern const IntegerMicro integer_micro;
}
namespace avx512vnni {
extern const IntegerMicro integer_micro;
}

}  // namespace headway
