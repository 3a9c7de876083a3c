#include "kernels/cpu/integer/byte_tiles.h"

namespace headway::baseline {
namespace {

uint8_t finished(int32_t sum, float scale, const ByteOutput& out) {
    // Added to a small number, it leaves no room for a fraction: rounding to nearest even.
    constexpr float round = 12582912.0F;  // 1.5 * 2^23
    const float low = static_cast<float>(-out.zero);
    float value = static_cast<float>(sum) * scale;
    value = value < out.high ? value : out.high;
    value = value > low ? value : low;
    return static_cast<uint8_t>(static_cast<uint8_t>(static_cast<int32_t>((value + round) - round) + out.zero) ^
                                out.flip);
}

template <int rows>
void tile(const ByteTile& tile) {
    constexpr int columns = ByteTile::columns;
    uint32_t sums[rows][columns] = {};
    const int8_t* b = tile.b;
    const uint8_t* const* a = tile.a;
    for (int64_t segment = 0; segment < tile.segments; ++segment, ++a)
        for (int64_t quad = 0; quad < tile.quads; ++quad, b += 4 * columns)
            for (int r = 0; r < rows; ++r) {
                const uint8_t* x = a[r * tile.segments] + tile.a_offset + 4 * quad;
                for (int n = 0; n < columns; ++n) {
                    int32_t sum = 0;
                    for (int i = 0; i < 4; ++i) sum += (x[i] ^ tile.a_flip) * b[4 * n + i];
                    sums[r][n] += static_cast<uint32_t>(sum);
                }
            }
    for (int r = 0; r < rows; ++r)
        for (int64_t n = 0; n < tile.width; ++n) {
            uint32_t sum = sums[r][n] + static_cast<uint32_t>(tile.column[n]);
            if (tile.b_zero != nullptr)
                sum -= static_cast<uint32_t>(tile.b_zero[n]) * static_cast<uint32_t>(tile.a_sums[r]);
            tile.y[r * tile.y_step + n] = finished(static_cast<int32_t>(sum), tile.scale[n], tile.out);
        }
}

template <int outputs>
void depthwise(const DepthwiseTile& tile) {
    constexpr int block = DepthwiseTile::lane_channels;
    for (int64_t pixel = 0; pixel < tile.pixels; pixel += outputs) {
        uint32_t sums[outputs][block] = {};
        const int8_t* weights = tile.weights;
        for (int64_t quad = 0; quad < tile.lines * tile.quads; ++quad) {
            const uint8_t* const* x =
                tile.x + pixel * tile.x_pixel + quad / tile.quads * tile.x_line + quad % tile.quads * 4;
            for (int p = 0; p < outputs; ++p, weights += 4 * block)
                for (int64_t j = 0; j < tile.width; ++j)
                    for (int i = 0; i < 4; ++i)
                        sums[p][j] += static_cast<uint32_t>((x[i][tile.first + j] ^ tile.x_flip) * weights[4 * j + i]);
        }
        for (int p = 0; p < outputs && pixel + p < tile.pixels; ++p)
            for (int64_t j = 0; j < tile.width; ++j)
                tile.y[(pixel + p) * tile.y_step + tile.first + j] = finished(
                    static_cast<int32_t>(sums[p][j] + static_cast<uint32_t>(tile.column[j])), tile.scale[j], tile.out);
    }
}

}  // namespace

const constinit ByteTiles byte_tiles{4,
                                     {nullptr, tile<1>, tile<2>, tile<3>, tile<4>},
                                     {nullptr, tile<1>, tile<2>, tile<3>, tile<4>},
                                     1,
                                     {depthwise<1>, depthwise<2>, depthwise<4>}};

}  // namespace headway::baseline
