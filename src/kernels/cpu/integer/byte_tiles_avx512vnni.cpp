#include "kernels/cpu/integer/byte_tiles.h"
#include "kernels/cpu/simd.h"

namespace headway::avx512vnni {
namespace {

// Sums to bytes, four vectors at a time.
class Finish {
public:
    explicit Finish(const ByteOutput& out)
        : high_(_mm512_set1_ps(out.high)),
          zero_(_mm512_set1_epi16(static_cast<int16_t>(out.zero))),
          flip_(_mm512_set1_epi8(static_cast<char>(out.flip))) {}

    [[gnu::always_inline]] __m512i rounded(__m512i sums, __m512 scale) const {
        return _mm512_cvtps_epi32(_mm512_min_ps(_mm512_mul_ps(_mm512_cvtepi32_ps(sums), scale), high_));
    }
    // Each 128 bits of the result: 4 bytes of each of a, b, c and d.
    [[gnu::always_inline]] __m512i packed(__m512i a, __m512i b, __m512i c, __m512i d) const {
        const __m512i low = _mm512_adds_epi16(_mm512_packs_epi32(a, b), zero_);
        const __m512i high = _mm512_adds_epi16(_mm512_packs_epi32(c, d), zero_);
        return _mm512_xor_si512(_mm512_packus_epi16(low, high), flip_);
    }

private:
    __m512 high_;
    __m512i zero_, flip_;
};

template <int rows, int vectors, bool flips>
HEADWAY_INLINE void add_products(const ByteTile& tile, __m512i (&sums)[rows][vectors]) {
    const __m512i flip = _mm512_set1_epi8(static_cast<char>(0x80));
    const int8_t* b = tile.b;
    const uint8_t* const* a = tile.a;
    for (int64_t segment = 0; segment < tile.segments; ++segment, ++a) {
        const uint8_t* row[rows];
#pragma GCC unroll 8
        for (int r = 0; r < rows; ++r) row[r] = a[r * tile.segments] + tile.a_offset;
        for (int64_t k = 0; k < 4 * tile.quads; k += 4, b += 4 * ByteTile::columns) {
            __m512i weights[vectors];
#pragma GCC unroll 2
            for (int v = 0; v < vectors; ++v) weights[v] = _mm512_loadu_si512(b + 64 * v);
#pragma GCC unroll 8
            for (int r = 0; r < rows; ++r) {
                int32_t bytes;
                __builtin_memcpy(&bytes, row[r] + k, sizeof bytes);
                __m512i x = _mm512_set1_epi32(bytes);
                if (flips) x = _mm512_xor_si512(x, flip);
#pragma GCC unroll 2
                for (int v = 0; v < vectors; ++v) sums[r][v] = _mm512_dpbusd_epi32(sums[r][v], x, weights[v]);
            }
        }
    }
}

// The first `width` columns of a row, or of the low half of the bytes for one vector.
HEADWAY_INLINE void store_row(uint8_t* y, __m256i bytes, int64_t width) {
    if (width == 32)
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(y), bytes);
    else
        _mm256_mask_storeu_epi8(y, static_cast<__mmask32>((uint64_t{1} << width) - 1), bytes);
}
HEADWAY_INLINE void store_row(uint8_t* y, __m128i bytes, int64_t width) {
    if (width == 16)
        _mm_storeu_si128(reinterpret_cast<__m128i*>(y), bytes);
    else
        _mm_mask_storeu_epi8(y, static_cast<__mmask16>((uint64_t{1} << width) - 1), bytes);
}

template <int rows, int vectors>
void tile(const ByteTile& tile) {
    __m512i sums[rows][vectors];
#pragma GCC unroll 8
    for (int r = 0; r < rows; ++r)
#pragma GCC unroll 2
        for (int v = 0; v < vectors; ++v) sums[r][v] = _mm512_loadu_si512(tile.column + 16 * v);
    if (tile.a_flip != 0)
        add_products<rows, vectors, true>(tile, sums);
    else
        add_products<rows, vectors, false>(tile, sums);
    if (tile.b_zero != nullptr) {
#pragma GCC unroll 8
        for (int r = 0; r < rows; ++r)
#pragma GCC unroll 2
            for (int v = 0; v < vectors; ++v)
                sums[r][v] = _mm512_sub_epi32(sums[r][v], _mm512_mullo_epi32(_mm512_loadu_si512(tile.b_zero + 16 * v),
                                                                             _mm512_set1_epi32(tile.a_sums[r])));
    }
    const Finish finish(tile.out);
    __m512 scale[vectors];
    for (int v = 0; v < vectors; ++v) scale[v] = _mm512_loadu_ps(tile.scale + 16 * v);
    // 4 bytes of each vector to 16 of one.
    const __m512i apart = _mm512_set_epi32(15, 11, 7, 3, 14, 10, 6, 2, 13, 9, 5, 1, 12, 8, 4, 0);
    constexpr int rows_at_once = 4 / vectors;
    const int64_t width = tile.width;
#pragma GCC unroll 8
    for (int first = 0; first < rows; first += rows_at_once) {
        __m512i four[4] = {};
#pragma GCC unroll 4
        for (int i = 0; i < 4; ++i)
            if (first + i / vectors < rows)
                four[i] = finish.rounded(sums[first + i / vectors][i % vectors], scale[i % vectors]);
        const __m512i bytes = _mm512_permutexvar_epi32(apart, finish.packed(four[0], four[1], four[2], four[3]));
        uint8_t* y = tile.y + first * tile.y_step;
        if constexpr (vectors == 2) {
            store_row(y, _mm512_castsi512_si256(bytes), width);
            if (first + 1 < rows) store_row(y + tile.y_step, _mm512_extracti64x4_epi64(bytes, 1), width);
        } else {
            store_row(y, _mm512_castsi512_si128(bytes), width);
            if (first + 1 < rows) store_row(y + tile.y_step, _mm512_extracti32x4_epi32(bytes, 1), width);
            if (first + 2 < rows) store_row(y + 2 * tile.y_step, _mm512_extracti32x4_epi32(bytes, 2), width);
            if (first + 3 < rows) store_row(y + 3 * tile.y_step, _mm512_extracti32x4_epi32(bytes, 3), width);
        }
    }
}

constexpr int block_lanes = 4, block = block_lanes * DepthwiseTile::lane_channels;

template <int outputs, bool whole>
HEADWAY_INLINE void depthwise_block(const DepthwiseTile& tile) {
    const __mmask64 mask = whole ? ~uint64_t{0} : (uint64_t{1} << tile.width) - 1;
    const auto load = [&](const uint8_t* x) __attribute__((always_inline)) {
        return whole ? _mm512_loadu_si512(x + tile.first) : _mm512_maskz_loadu_epi8(mask, x + tile.first);
    };
    const __m512i flip = _mm512_set1_epi8(static_cast<char>(tile.x_flip));
    const Finish finish(tile.out);
    const int64_t lines = tile.lines, quads = tile.quads;
    for (int64_t pixel = 0; pixel < tile.pixels; pixel += outputs) {
        __m512i sums[outputs][4];
#pragma GCC unroll 4
        for (int p = 0; p < outputs; ++p)
#pragma GCC unroll 4
            for (int i = 0; i < 4; ++i) sums[p][i] = _mm512_loadu_si512(tile.column + 16 * i);
        const int8_t* weights = tile.weights;
        const auto add_quad = [&](const uint8_t* const* x) __attribute__((always_inline)) {
            const __m512i x0 = _mm512_xor_si512(load(x[0]), flip), x1 = _mm512_xor_si512(load(x[1]), flip);
            const __m512i x2 = _mm512_xor_si512(load(x[2]), flip), x3 = _mm512_xor_si512(load(x[3]), flip);
            const __m512i low01 = _mm512_unpacklo_epi8(x0, x1), high01 = _mm512_unpackhi_epi8(x0, x1);
            const __m512i low23 = _mm512_unpacklo_epi8(x2, x3), high23 = _mm512_unpackhi_epi8(x2, x3);
            const __m512i four[] = {_mm512_unpacklo_epi16(low01, low23), _mm512_unpackhi_epi16(low01, low23),
                                    _mm512_unpacklo_epi16(high01, high23), _mm512_unpackhi_epi16(high01, high23)};
#pragma GCC unroll 4
            for (int p = 0; p < outputs; ++p)
#pragma GCC unroll 4
                for (int i = 0; i < 4; ++i)
                    sums[p][i] =
                        _mm512_dpbusd_epi32(sums[p][i], four[i], _mm512_loadu_si512(weights + p * 4 * block + 64 * i));
            weights += outputs * 4 * block;
        };
        const uint8_t* const* x = tile.x + pixel * tile.x_pixel;
        for (int64_t line = 0; line < lines; ++line, x += tile.x_line)
            for (int64_t quad = 0; quad < quads; ++quad) add_quad(x + 4 * quad);
        uint8_t* y = tile.y + pixel * tile.y_step + tile.first;
#pragma GCC unroll 4
        for (int p = 0; p < outputs; ++p, y += tile.y_step) {
            if (pixel + p >= tile.pixels) break;
            __m512i four[4];
#pragma GCC unroll 4
            for (int i = 0; i < 4; ++i) four[i] = finish.rounded(sums[p][i], _mm512_loadu_ps(tile.scale + 16 * i));
            const __m512i bytes = finish.packed(four[0], four[1], four[2], four[3]);
            if (whole)
                _mm512_storeu_si512(y, bytes);
            else
                _mm512_mask_storeu_epi8(y, mask, bytes);
        }
    }
}

template <int outputs>
void depthwise(const DepthwiseTile& tile) {
    if (tile.width == block)
        depthwise_block<outputs, true>(tile);
    else
        depthwise_block<outputs, false>(tile);
}

}  // namespace

const constinit ByteTiles byte_tiles{
    8,
    {nullptr, tile<1, 1>, tile<2, 1>, tile<3, 1>, tile<4, 1>, tile<5, 1>, tile<6, 1>, tile<7, 1>, tile<8, 1>},
    {nullptr, tile<1, 2>, tile<2, 2>, tile<3, 2>, tile<4, 2>, tile<5, 2>, tile<6, 2>, tile<7, 2>, tile<8, 2>},
    block_lanes,
    {depthwise<1>, depthwise<2>, depthwise<4>}};

}  // namespace headway::avx512vnni
