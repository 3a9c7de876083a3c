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

struct IntegerMicro {
    static constexpr int columns = 32;  // of a panel, on every instruction set
    static constexpr int most_rows = 8;
    int rows;  // most rows of a tile
    IntegerTileFunction tiles[most_rows + 1];
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
