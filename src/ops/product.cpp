#include "ops/product.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "kernels/target.h"
#include "ops/doubles.h"

namespace headway {
namespace {

// Tile of the innermost kernel, and blocks whose panel of b (128 x 256 doubles) stays in a 512 KiB cache.
constexpr int64_t tile_rows = 4;
constexpr int64_t tile_columns = 8;
constexpr int64_t column_block = 128;
constexpr int64_t inner_block = 256;

using Lanes = double __attribute__((vector_size(tile_columns * sizeof(double))));

// sums[rows][tile_columns] = a (`rows` rows of `inner`, `stride` apart) * panel (inner x tile_columns, packed).
template <int64_t rows>
[[gnu::always_inline]] inline void multiply_tile(const double* a, int64_t stride, const double* panel, int64_t inner,
                                                 double* sums) {
    Lanes lanes[rows] = {};
    for (int64_t k = 0; k < inner; ++k) {
        Lanes b;
        std::memcpy(&b, panel + k * tile_columns, sizeof b);
        for (int64_t row = 0; row < rows; ++row) lanes[row] += a[row * stride + k] * b;
    }
    std::memcpy(sums, lanes, sizeof lanes);
}

// Columns [0, count) of `inner` rows of b as panels of tile_columns columns, zero-padded.
void pack(const double* b, int64_t stride, int64_t inner, int64_t count, double* packed) {
    for (int64_t first = 0; first < count; first += tile_columns) {
        const int64_t width = std::min(tile_columns, count - first);
        for (int64_t k = 0; k < inner; ++k)
            for (int64_t j = 0; j < tile_columns; ++j) *packed++ = j < width ? b[k * stride + first + j] : 0.0;
    }
}

// c[rows][count] += a[rows][inner] * packed.
struct BlockProduct {
    const double* a;
    int64_t a_stride;
    const double* packed;
    double* c;
    int64_t c_stride, rows, count, inner;
};

[[gnu::always_inline]] inline void multiply_block(const BlockProduct& block) {
    double sums[tile_rows * tile_columns];
    for (int64_t row = 0; row < block.rows;) {
        const int64_t height = block.rows - row >= tile_rows ? tile_rows : 1;
        const double* a = block.a + row * block.a_stride;
        for (int64_t first = 0; first < block.count; first += tile_columns) {
            const double* panel = block.packed + first * block.inner;
            if (height == tile_rows)
                multiply_tile<tile_rows>(a, block.a_stride, panel, block.inner, sums);
            else
                multiply_tile<1>(a, block.a_stride, panel, block.inner, sums);
            const int64_t width = std::min(tile_columns, block.count - first);
            for (int64_t i = 0; i < height; ++i)
                for (int64_t j = 0; j < width; ++j)
                    block.c[(row + i) * block.c_stride + first + j] += sums[i * tile_columns + j];
        }
        row += height;
    }
}

// The same code for wider registers. Products and sums are rounded one by one (no contraction), so that all give the
// same bits.
[[gnu::target("avx512f")]] void multiply_block_avx512(const BlockProduct& block) { multiply_block(block); }
[[gnu::target("avx2")]] void multiply_block_avx2(const BlockProduct& block) { multiply_block(block); }
void multiply_block_baseline(const BlockProduct& block) { multiply_block(block); }

auto* block_product() {
    static auto* const chosen = runs_here(Isa::avx512) ? multiply_block_avx512
                                : runs_here(Isa::avx2) ? multiply_block_avx2
                                                       : multiply_block_baseline;
    return chosen;
}

}  // namespace

void multiply(const double* a, const double* b, double* c, int64_t rows, int64_t columns, int64_t inner) {
    std::fill_n(c, rows * columns, 0.0);
    auto* const product = block_product();
    std::vector<double> packed = zeros(column_block * std::min(inner, inner_block));
    for (int64_t column = 0; column < columns; column += column_block) {
        const int64_t count = std::min(column_block, columns - column);
        for (int64_t k = 0; k < inner; k += inner_block) {
            const int64_t depth = std::min(inner_block, inner - k);
            pack(b + k * columns + column, columns, depth, count, packed.data());
            product({a + k, inner, packed.data(), c + column, columns, rows, count, depth});
        }
    }
}

}  // namespace headway
