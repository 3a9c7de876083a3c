// Products of 16-bit numbers, two to a sum (vpmaddwd): vpmaddubsw on the bytes themselves would saturate.
#include "kernels/cpu/integer/byte_quads_avx2.h"
#include "kernels/cpu/integer/byte_tiles.h"
#include "kernels/cpu/simd.h"

namespace headway::avx2 {
namespace {

// Eight sums to eight bytes.
class Finish {
public:
    explicit Finish(const ByteOutput& out)
        : high_(_mm256_set1_ps(out.high)),
          zero_(_mm_set1_epi16(static_cast<int16_t>(out.zero))),
          flip_(_mm_set1_epi8(static_cast<char>(out.flip))) {}

    [[gnu::always_inline]] __m128i words(__m256i sums, const float* scale) const {
        const __m256 scaled = _mm256_mul_ps(_mm256_cvtepi32_ps(sums), _mm256_loadu_ps(scale));
        const __m256i rounded = _mm256_cvtps_epi32(_mm256_min_ps(scaled, high_));
        return _mm_adds_epi16(_mm_packs_epi32(_mm256_castsi256_si128(rounded), _mm256_extracti128_si256(rounded, 1)),
                              zero_);
    }
    [[gnu::always_inline]] __m128i bytes(__m128i low, __m128i high) const {
        return _mm_xor_si128(_mm_packus_epi16(low, high), flip_);
    }

private:
    __m256 high_;
    __m128i zero_, flip_;
};

// Two partial sums a column, columns 0-3 and 4-7, to eight sums in order.
HEADWAY_INLINE __m256i joined(__m256i low, __m256i high) {
    return _mm256_permute4x64_epi64(_mm256_hadd_epi32(low, high), 0xD8);
}

HEADWAY_INLINE void store_first(uint8_t* y, __m128i bytes, int64_t count) {
    if (count >= 16) {
        _mm_storeu_si128(reinterpret_cast<__m128i*>(y), bytes);
        return;
    }
    alignas(16) uint8_t all[16];
    _mm_store_si128(reinterpret_cast<__m128i*>(all), bytes);
    for (int64_t i = 0; i < count; ++i) y[i] = all[i];
}

// Columns [first, first + 8 * vectors).
template <int rows, int vectors, bool flips>
HEADWAY_INLINE void tile_columns(const ByteTile& tile, const Finish& finish, int64_t first) {
    const __m256i flip = _mm256_set1_epi8(static_cast<char>(0x80));
    __m256i sums[rows][vectors];
#pragma GCC unroll 4
    for (int r = 0; r < rows; ++r)
#pragma GCC unroll 2
        for (int v = 0; v < vectors; ++v)
            sums[r][v] = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(tile.column + first + 8 * v));
    const int8_t* b = tile.b + 4 * first;
    const uint8_t* const* a = tile.a;
    for (int64_t segment = 0; segment < tile.segments; ++segment, ++a) {
        const uint8_t* row[rows];
#pragma GCC unroll 4
        for (int r = 0; r < rows; ++r) row[r] = a[r * tile.segments] + tile.a_offset;
        for (int64_t k = 0; k < 4 * tile.quads; k += 4, b += 4 * ByteTile::columns) {
            const WeightQuads<vectors> weights(b);
#pragma GCC unroll 4
            for (int r = 0; r < rows; ++r) {
                int32_t four;
                __builtin_memcpy(&four, row[r] + k, sizeof four);
                __m256i x = _mm256_set1_epi32(four);
                if (flips) x = _mm256_xor_si256(x, flip);
                weights.add(x, sums[r]);
            }
        }
    }
#pragma GCC unroll 4
    for (int r = 0; r < rows; ++r) {
        __m128i words[2];
#pragma GCC unroll 2
        for (int v = 0; v < vectors; ++v) {
            if (tile.b_zero != nullptr) {
                const auto* zero = reinterpret_cast<const __m256i*>(tile.b_zero + first + 8 * v);
                sums[r][v] = _mm256_sub_epi32(
                    sums[r][v], _mm256_mullo_epi32(_mm256_loadu_si256(zero), _mm256_set1_epi32(tile.a_sums[r])));
            }
            words[v] = finish.words(sums[r][v], tile.scale + first + 8 * v);
        }
        store_first(tile.y + r * tile.y_step + first, finish.bytes(words[0], words[vectors - 1]), tile.width - first);
    }
}

template <int rows, bool flips>
HEADWAY_INLINE void all_columns(const ByteTile& tile) {
    const Finish finish(tile.out);
    int64_t first = 0;
    for (; tile.width - first > 8; first += 16) tile_columns<rows, 2, flips>(tile, finish, first);
    if (first < tile.width) tile_columns<rows, 1, flips>(tile, finish, first);
}

template <int rows>
void tile(const ByteTile& tile) {
    if (tile.a_flip != 0)
        all_columns<rows, true>(tile);
    else
        all_columns<rows, false>(tile);
}

template <int outputs, bool whole>
HEADWAY_INLINE void depthwise_block(const DepthwiseTile& tile) {
    constexpr int block = DepthwiseTile::lane_channels;
    const __m128i flip = _mm_set1_epi8(static_cast<char>(tile.x_flip));
    const auto load = [&](const uint8_t* x) __attribute__((always_inline)) {
        x += tile.first;
        if (whole) return _mm_xor_si128(_mm_loadu_si128(reinterpret_cast<const __m128i*>(x)), flip);
        alignas(16) uint8_t some[block] = {};
        for (int64_t i = 0; i < tile.width; ++i) some[i] = x[i];
        return _mm_xor_si128(_mm_load_si128(reinterpret_cast<const __m128i*>(some)), flip);
    };
    const Finish finish(tile.out);
    for (int64_t pixel = 0; pixel < tile.pixels; pixel += outputs) {
        __m256i sums[outputs][4];
#pragma GCC unroll 4
        for (int p = 0; p < outputs; ++p)
#pragma GCC unroll 4
            for (int i = 0; i < 4; ++i) sums[p][i] = _mm256_setzero_si256();
        const int8_t* weights = tile.weights;
        const auto add_quad = [&](const uint8_t* const* x) __attribute__((always_inline)) {
            const __m128i x0 = load(x[0]), x1 = load(x[1]), x2 = load(x[2]), x3 = load(x[3]);
            const __m128i low01 = _mm_unpacklo_epi8(x0, x1), high01 = _mm_unpackhi_epi8(x0, x1);
            const __m128i low23 = _mm_unpacklo_epi8(x2, x3), high23 = _mm_unpackhi_epi8(x2, x3);
            const __m256i four[] = {_mm256_cvtepu8_epi16(_mm_unpacklo_epi16(low01, low23)),
                                    _mm256_cvtepu8_epi16(_mm_unpackhi_epi16(low01, low23)),
                                    _mm256_cvtepu8_epi16(_mm_unpacklo_epi16(high01, high23)),
                                    _mm256_cvtepu8_epi16(_mm_unpackhi_epi16(high01, high23))};
#pragma GCC unroll 4
            for (int p = 0; p < outputs; ++p)
#pragma GCC unroll 4
                for (int i = 0; i < 4; ++i) {
                    const auto* w = reinterpret_cast<const __m128i*>(weights + p * 4 * block + 16 * i);
                    sums[p][i] = _mm256_add_epi32(sums[p][i],
                                                  _mm256_madd_epi16(four[i], _mm256_cvtepi8_epi16(_mm_loadu_si128(w))));
                }
            weights += outputs * 4 * block;
        };
        const uint8_t* const* x = tile.x + pixel * tile.x_pixel;
        for (int64_t line = 0; line < tile.lines; ++line, x += tile.x_line)
            for (int64_t quad = 0; quad < tile.quads; ++quad) add_quad(x + 4 * quad);
        uint8_t* y = tile.y + pixel * tile.y_step + tile.first;
#pragma GCC unroll 4
        for (int p = 0; p < outputs; ++p, y += tile.y_step) {
            if (pixel + p >= tile.pixels) break;
            const auto* column = reinterpret_cast<const __m256i*>(tile.column);
            const __m256i low = _mm256_add_epi32(joined(sums[p][0], sums[p][1]), _mm256_loadu_si256(column));
            const __m256i high = _mm256_add_epi32(joined(sums[p][2], sums[p][3]), _mm256_loadu_si256(column + 1));
            store_first(y, finish.bytes(finish.words(low, tile.scale), finish.words(high, tile.scale + 8)),
                        whole ? block : tile.width);
        }
    }
}

template <int outputs>
void depthwise(const DepthwiseTile& tile) {
    if (tile.width == DepthwiseTile::lane_channels)
        depthwise_block<outputs, true>(tile);
    else
        depthwise_block<outputs, false>(tile);
}

}  // namespace

const constinit ByteTiles byte_tiles{4,
                                     {nullptr, tile<1>, tile<2>, tile<3>, tile<4>},
                                     {nullptr, tile<1>, tile<2>, tile<3>, tile<4>},
                                     1,
                                     {depthwise<1>, depthwise<2>, depthwise<4>}};

}  // namespace headway::avx2
