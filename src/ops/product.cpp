#include "ops/product.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace headway {
namespace {

// Tile of the innermost kernel, and blocks whose panel of b (128 x 256 doubles) stays in a 512 KiB cache.
constexpr int64_t tile = 4;
constexpr int64_t column_block = 128;
constexpr int64_t inner_block = 256;

using Pair = double __attribute__((vector_size(16)));

Pair load_pair(const double* from) {
    Pair pair;
    std::memcpy(&pair, from, sizeof pair);
    return pair;
}

// sums[4][4] = a (4 rows of `inner`, `stride` apart) * panel (inner x 4, packed).
void multiply_tile(const double* a, int64_t stride, const double* panel, int64_t inner, double* sums) {
    Pair low[tile] = {};
    Pair high[tile] = {};
    for (int64_t k = 0; k < inner; ++k) {
        const Pair b_low = load_pair(panel + k * tile);
        const Pair b_high = load_pair(panel + k * tile + 2);
        for (int64_t row = 0; row < tile; ++row) {
            const double value = a[row * stride + k];
            const Pair both = {value, value};
            low[row] += both * b_low;
            high[row] += both * b_high;
        }
    }
    for (int64_t row = 0; row < tile; ++row) {
        std::memcpy(sums + row * tile, &low[row], sizeof(Pair));
        std::memcpy(sums + row * tile + 2, &high[row], sizeof(Pair));
    }
}

void multiply_row(const double* a, const double* panel, int64_t inner, double* sums) {
    Pair low = {};
    Pair high = {};
    for (int64_t k = 0; k < inner; ++k) {
        const Pair both = {a[k], a[k]};
        low += both * load_pair(panel + k * tile);
        high += both * load_pair(panel + k * tile + 2);
    }
    std::memcpy(sums, &low, sizeof(Pair));
    std::memcpy(sums + 2, &high, sizeof(Pair));
}

// Columns [0, count) of `inner` rows of b as panels of 4 columns, zero-padded.
void pack(const double* b, int64_t stride, int64_t inner, int64_t count, double* packed) {
    for (int64_t first = 0; first < count; first += tile) {
        const int64_t width = std::min(tile, count - first);
        for (int64_t k = 0; k < inner; ++k)
            for (int64_t j = 0; j < tile; ++j) *packed++ = j < width ? b[k * stride + first + j] : 0.0;
    }
}

// c[rows][count] += a[rows][inner] * packed.
void multiply_block(const double* a, int64_t a_stride, const double* packed, double* c, int64_t c_stride, int64_t rows,
                    int64_t count, int64_t inner) {
    double sums[tile * tile];
    for (int64_t row = 0; row < rows;) {
        const int64_t height = rows - row >= tile ? tile : 1;
        for (int64_t first = 0; first < count; first += tile) {
            const double* panel = packed + first * inner;
            if (height == tile)
                multiply_tile(a + row * a_stride, a_stride, panel, inner, sums);
            else
                multiply_row(a + row * a_stride, panel, inner, sums);
            const int64_t width = std::min(tile, count - first);
            for (int64_t i = 0; i < height; ++i)
                for (int64_t j = 0; j < width; ++j) c[(row + i) * c_stride + first + j] += sums[i * tile + j];
        }
        row += height;
    }
}

}  // namespace

void multiply(const double* a, const double* b, double* c, int64_t rows, int64_t columns, int64_t inner) {
    std::fill_n(c, rows * columns, 0.0);
    std::vector<double> packed(static_cast<size_t>(column_block * std::min(inner, inner_block)));
    for (int64_t column = 0; column < columns; column += column_block) {
        const int64_t count = std::min(column_block, columns - column);
        for (int64_t k = 0; k < inner; k += inner_block) {
            const int64_t depth = std::min(inner_block, inner - k);
            pack(b + k * columns + column, columns, depth, count, packed.data());
            multiply_block(a + k, inner, packed.data(), c + column, columns, rows, count, depth);
        }
    }
}

}  // namespace headway
