// Inner loops of attention (see attention_ops.h). Included once by each of attention_ops_<isa>.cpp.
#pragma once

#include "kernels/cpu/attention/attention_ops.h"
#include "kernels/cpu/pointwise/vector_math.h"

namespace headway::HEADWAY_ISA {
namespace {

HEADWAY_INLINE float minus_infinity() { return -__builtin_inff(); }

void copy_rows(const float* src, int64_t row_step, int64_t rows, int64_t columns, float scale, float* dst,
               int64_t width) {
    const vf factor = broadcast(scale);
    for (int64_t r = 0; r < rows; ++r, src += row_step, dst += width) {
        int64_t c = 0;
        for (; c + lanes <= columns; c += lanes) store(dst + c, load(src + c) * factor);
        if (c < columns) {
            const int rest = static_cast<int>(columns - c);
            const vf last = load_first(src + c, rest) * factor;
            if (c + lanes <= width)
                store(dst + c, last);
            else
                store_first(dst + c, last, static_cast<int>(width - c));
            c += lanes;
        }
        for (; c < width; ++c) dst[c] = 0;
    }
}

// NaN among the scores does not show here, but in the sum of exponentials.
float largest_score(float* scores, int64_t count, const float* mask) {
    for (int64_t i = count; i % lanes != 0; ++i) scores[i] = minus_infinity();
    vf most[2] = {broadcast(minus_infinity()), broadcast(minus_infinity())};
    int64_t i = 0;
    if (mask == nullptr) {
        for (; i + lanes < count; i += 2 * lanes)
            for (int k = 0; k < 2; ++k) most[k] = max(load(scores + i + k * lanes), most[k]);
        if (i < count) most[0] = max(load(scores + i), most[0]);
        return largest(max(most[0], most[1]));
    }
    for (; i + lanes <= count; i += lanes) {
        const vf x = load(scores + i) + load(mask + i);
        store(scores + i, x);
        most[0] = max(x, most[0]);
    }
    if (i < count) {
        const vf x = load(scores + i) + load_first(mask + i, static_cast<int>(count - i));
        store(scores + i, x);
        most[0] = max(x, most[0]);
    }
    return largest(most[0]);
}

float shrinkage(float before, float now) {
    if (before == now) return 1;
    if (before == minus_infinity()) return 0;
    alignas(64) float factor[lanes];
    store(factor, exp_or_zero(broadcast(before - now)));
    return factor[0];
}

float exponentials(float* scores, int64_t count, const float* mask, ScoreRow& row) {
    const float before = row.most;
    const float found = largest_score(scores, count, mask);
    const float most = found > before ? found : before;
    // Where no score is above -infinity, any finite shift leaves them there.
    const vf shift = broadcast(most == minus_infinity() ? 0.0F : most);
    vf total[2] = {zero(), zero()};
    int64_t i = 0;
    for (; i + lanes < count; i += 2 * lanes)
        for (int k = 0; k < 2; ++k) {
            const vf e = exp_or_zero(load(scores + i + k * lanes) - shift);
            total[k] = total[k] + e;
            store(scores + i + k * lanes, e);
        }
    if (i < count) {
        const vf e = exp_or_zero(load(scores + i) - shift);
        total[0] = total[0] + e;
        store(scores + i, e);
    }
    const float factor = shrinkage(before, most);
    row.most = most;
    row.total = row.total * factor + sum(total[0] + total[1]);
    return factor;
}

void hide(float* scores, int64_t count, const uint8_t* mask, bool hides, float value) {
    for (int64_t i = 0; i < count; ++i) scores[i] = (mask[i] != 0) == hides ? value : scores[i];
}

void scale(float* y, int64_t count, float factor) {
    const vf by = broadcast(factor);
    int64_t i = 0;
    for (; i + lanes <= count; i += lanes) store(y + i, load(y + i) * by);
    if (i < count) {
        const int rest = static_cast<int>(count - i);
        store_first(y + i, load_first(y + i, rest) * by, rest);
    }
}

template <int rows>
HEADWAY_INLINE void dot_products(const float* q, int64_t size, const float* k, int64_t k_step, float* scores) {
    vf sums[rows];
    for (int r = 0; r < rows; ++r) sums[r] = zero();
    int64_t i = 0;
    for (; i + lanes <= size; i += lanes) {
        const vf x = load(q + i);
        for (int r = 0; r < rows; ++r) sums[r] = fma(x, load(k + r * k_step + i), sums[r]);
    }
    if (i < size) {
        const int rest = static_cast<int>(size - i);
        const vf x = load_first(q + i, rest);
        for (int r = 0; r < rows; ++r) sums[r] = fma(x, load_first(k + r * k_step + i, rest), sums[r]);
    }
    for (int r = 0; r < rows; ++r) scores[r] = sum(sums[r]);
}

void scores_of_query(const float* q, int64_t size, const float* k, int64_t k_step, int64_t keys, float* scores) {
    int64_t key = 0;
    for (; key + 4 <= keys; key += 4) dot_products<4>(q, size, k + key * k_step, k_step, scores + key);
    for (; key < keys; ++key) dot_products<1>(q, size, k + key * k_step, k_step, scores + key);
}

// `vectors` vectors of columns, of whose last one `last` lanes exist. Two keys at a time: their sums are independent.
template <int vectors>
HEADWAY_INLINE void weigh_columns(const float* weights, int64_t keys, const float* v, int64_t v_step, int last,
                                  bool adds, float* y) {
    vf sums[2][vectors];
    for (int half = 0; half < 2; ++half)
        for (int c = 0; c < vectors; ++c) sums[half][c] = zero();
    if (adds) {
        for (int c = 0; c + 1 < vectors; ++c) sums[0][c] = load(y + c * lanes);
        sums[0][vectors - 1] = load_first(y + (vectors - 1) * lanes, last);
    }
    const auto add = [&](int64_t key, int half) __attribute__((always_inline)) {
        const vf weight = broadcast(weights[key]);
        const float* row = v + key * v_step;
        for (int c = 0; c + 1 < vectors; ++c) sums[half][c] = fma(weight, load(row + c * lanes), sums[half][c]);
        const float* end = row + (vectors - 1) * lanes;
        sums[half][vectors - 1] =
            fma(weight, last == lanes ? load(end) : load_first(end, last), sums[half][vectors - 1]);
    };
    int64_t key = 0;
    for (; key + 2 <= keys; key += 2) {
        add(key, 0);
        add(key + 1, 1);
    }
    if (key < keys) add(key, 0);
    for (int c = 0; c + 1 < vectors; ++c) store(y + c * lanes, sums[0][c] + sums[1][c]);
    store_first(y + (vectors - 1) * lanes, sums[0][vectors - 1] + sums[1][vectors - 1], last);
}

void weigh_values(const float* weights, int64_t keys, const float* v, int64_t v_step, int64_t columns, bool adds,
                  float* y) {
    int64_t c = 0;
    for (; c + 4 * lanes <= columns; c += 4 * lanes) weigh_columns<4>(weights, keys, v + c, v_step, lanes, adds, y + c);
    const int vectors = static_cast<int>((columns - c + lanes - 1) / lanes);
    const int last = static_cast<int>(columns - c) - (vectors - 1) * lanes;
    if (vectors == 4) weigh_columns<4>(weights, keys, v + c, v_step, last, adds, y + c);
    if (vectors == 3) weigh_columns<3>(weights, keys, v + c, v_step, last, adds, y + c);
    if (vectors == 2) weigh_columns<2>(weights, keys, v + c, v_step, last, adds, y + c);
    if (vectors == 1) weigh_columns<1>(weights, keys, v + c, v_step, last, adds, y + c);
}

}  // namespace

const AttentionOps& attention_ops() {
    static constexpr AttentionOps ops{lanes, copy_rows, exponentials, hide, scale, scores_of_query, weigh_values};
    return ops;
}

}  // namespace headway::HEADWAY_ISA
