// Inner loops of reductions (see reduce_ops.h). Included once by each of reduce_<isa>.cpp.
#pragma once

#include "kernels/cpu/reduce/reduce_ops.h"
#include "kernels/cpu/simd.h"

namespace headway::HEADWAY_ISA {
namespace {

struct Sum {
    HEADWAY_INLINE vf map(vf v) { return v; }
    HEADWAY_INLINE vf join(vf a, vf b) { return a + b; }
    HEADWAY_INLINE float join_floats(float a, float b) { return a + b; }
    static constexpr float neutral = 0;
};
struct SumAbs : Sum {
    HEADWAY_INLINE vf map(vf v) { return abs(v); }
};
struct SumSquare : Sum {
    HEADWAY_INLINE vf map(vf v) { return v * v; }
};
// NaN wins on either side.
struct Max {
    HEADWAY_INLINE vf map(vf v) { return v; }
    HEADWAY_INLINE vf join(vf a, vf b) { return max_nan(a, b); }
    HEADWAY_INLINE float join_floats(float a, float b) { return a != a ? a : a > b ? a : b; }
    static constexpr float neutral = -__builtin_inff();
};
struct Min {
    HEADWAY_INLINE vf map(vf v) { return v; }
    HEADWAY_INLINE vf join(vf a, vf b) { return min_nan(a, b); }
    HEADWAY_INLINE float join_floats(float a, float b) { return a != a ? a : a < b ? a : b; }
    static constexpr float neutral = __builtin_inff();
};

// Lanes beyond n of a vector at the end of a run must not change the result.
template <class Kind>
HEADWAY_INLINE vf load_neutral(const float* src, int n) {
    alignas(64) float buffer[lanes];
    store(buffer, broadcast(Kind::neutral));
    for (int i = 0; i < n; ++i) buffer[i] = src[i];
    return load(buffer);
}

template <class Kind>
HEADWAY_INLINE float join_lanes(vf v) {
    alignas(64) float buffer[lanes];
    store(buffer, v);
    for (int width = lanes / 2; width > 0; width /= 2)
        for (int i = 0; i < width; ++i) buffer[i] = Kind::join_floats(buffer[i], buffer[i + width]);
    return buffer[0];
}

// Sums of at most this many vectors in a row keep rounding errors small; longer runs join sums of such pieces.
constexpr int64_t piece_vectors = 256;

template <class Kind>
HEADWAY_INLINE vf reduce_piece(const float* src, int64_t vectors) {
    vf part[4];
    for (vf& p : part) p = broadcast(Kind::neutral);
    int64_t i = 0;
    for (; i + 4 <= vectors; i += 4)
        for (int k = 0; k < 4; ++k) part[k] = Kind::join(part[k], Kind::map(load(src + (i + k) * lanes)));
    for (; i < vectors; ++i) part[0] = Kind::join(part[0], Kind::map(load(src + i * lanes)));
    return Kind::join(Kind::join(part[0], part[1]), Kind::join(part[2], part[3]));
}

template <class Kind>
float reduce_run(const float* src, int64_t n) {
    vf total = broadcast(Kind::neutral);
    const int64_t vectors = n / lanes;
    for (int64_t first = 0; first < vectors; first += piece_vectors) {
        const int64_t count = vectors - first < piece_vectors ? vectors - first : piece_vectors;
        total = Kind::join(total, reduce_piece<Kind>(src + first * lanes, count));
    }
    const int rest = static_cast<int>(n % lanes);
    if (rest > 0) total = Kind::join(total, Kind::map(load_neutral<Kind>(src + vectors * lanes, rest)));
    return join_lanes<Kind>(total);
}

// Each lane takes a run of its own.
template <class Kind>
void reduce_short_runs(const float* src, int64_t n, int64_t runs, float* to) {
    for (int64_t first = 0; first < runs; first += lanes, src += lanes * n) {
        const int count = static_cast<int>(runs - first < lanes ? runs - first : lanes);
        vf total = broadcast(Kind::neutral);
        for (int64_t k = 0; k < n; ++k) {
            alignas(64) float values[lanes] = {};
            for (int i = 0; i < count; ++i) values[i] = src[i * n + k];
            total = Kind::join(total, Kind::map(load(values)));
        }
        store_first(to + first, total, count);
    }
}

// `width` vectors of columns held in registers over all rows, in pieces as above.
template <class Kind, int width>
HEADWAY_INLINE void reduce_strip(const float* src, int64_t row_stride, int64_t rows, float* to, bool fresh) {
    vf total[width];
    for (int k = 0; k < width; ++k) total[k] = fresh ? broadcast(Kind::neutral) : load(to + k * lanes);
    for (int64_t first = 0; first < rows; first += piece_vectors) {
        const int64_t last = rows < first + piece_vectors ? rows : first + piece_vectors;
        vf part[width];
        for (vf& p : part) p = broadcast(Kind::neutral);
        for (int64_t r = first; r < last; ++r)
            for (int k = 0; k < width; ++k)
                part[k] = Kind::join(part[k], Kind::map(load(src + r * row_stride + k * lanes)));
        for (int k = 0; k < width; ++k) total[k] = Kind::join(total[k], part[k]);
    }
    for (int k = 0; k < width; ++k) store(to + k * lanes, total[k]);
}

template <class Kind>
void reduce_rest(const float* src, int64_t row_stride, int64_t rows, int cols, float* to, bool fresh) {
    vf total = fresh ? broadcast(Kind::neutral) : load_first(to, cols);
    for (int64_t first = 0; first < rows; first += piece_vectors) {
        const int64_t last = rows < first + piece_vectors ? rows : first + piece_vectors;
        vf part = broadcast(Kind::neutral);
        for (int64_t r = first; r < last; ++r)
            part = Kind::join(part, Kind::map(load_first(src + r * row_stride, cols)));
        total = Kind::join(total, part);
    }
    store_first(to, total, cols);
}

template <class Kind>
void reduce_columns(const float* src, int64_t row_stride, int64_t rows, int64_t cols, float* to, bool fresh) {
    int64_t c = 0;
    for (; c + 4 * lanes <= cols; c += 4 * lanes) reduce_strip<Kind, 4>(src + c, row_stride, rows, to + c, fresh);
    if (c + 2 * lanes <= cols) {
        reduce_strip<Kind, 2>(src + c, row_stride, rows, to + c, fresh);
        c += 2 * lanes;
    }
    if (c + lanes <= cols) {
        reduce_strip<Kind, 1>(src + c, row_stride, rows, to + c, fresh);
        c += lanes;
    }
    if (c < cols) reduce_rest<Kind>(src + c, row_stride, rows, static_cast<int>(cols - c), to + c, fresh);
}

}  // namespace

const ReduceOps& reduce_ops() {
    static constexpr ReduceOps ops{
        {reduce_run<Sum>, reduce_run<Max>, reduce_run<Min>, reduce_run<SumAbs>, reduce_run<SumSquare>},
        {reduce_short_runs<Sum>, reduce_short_runs<Max>, reduce_short_runs<Min>, reduce_short_runs<SumAbs>,
         reduce_short_runs<SumSquare>},
        {reduce_columns<Sum>, reduce_columns<Max>, reduce_columns<Min>, reduce_columns<SumAbs>,
         reduce_columns<SumSquare>}};
    return ops;
}

}  // namespace headway::HEADWAY_ISA
