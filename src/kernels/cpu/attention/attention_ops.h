// Inner loops of attention for one instruction set; the products of blocks of rows are gemm/micro.h's.
#pragma once

#include <cstdint>

namespace headway {

// Of a row of scores, all of it or what has been seen so far: the largest score, and the sum of exponentials relative
// to it.
struct ScoreRow {
    float most;
    float total;
};

struct AttentionOps {
    int lanes;
    // dst[r * width + c] = src[r * row_step + c] * scale, zero for c from `columns` up to `width`.
    void (*copy_rows)(const float* src, int64_t row_step, int64_t rows, int64_t columns, float scale, float* dst,
                      int64_t width);
    // Adds a mask (nullptr: none) to `count` scores, replaces them by exp(score - largest so far) and brings `row` up
    // to date. Returns what sums of earlier scores shrink by. `scores` is writable up to whole vectors.
    float (*exponentials)(float* scores, int64_t count, const float* mask, ScoreRow& row);
    // Puts `value` where the mask is (hides) or is not (keeps) true.
    void (*hide)(float* scores, int64_t count, const uint8_t* mask, bool hides, float value);
    void (*scale)(float* y, int64_t count, float factor);
    // For few queries, keys and values read where they lie. scores[key] = q * row of k;
    // y[column] = (y[column] +) sum of weights[key] * v[key][column].
    void (*scores_of_query)(const float* q, int64_t size, const float* k, int64_t k_step, int64_t keys, float* scores);
    void (*weigh_values)(const float* weights, int64_t keys, const float* v, int64_t v_step, int64_t columns, bool adds,
                         float* y);
};

namespace baseline {
const AttentionOps& attention_ops();
}
namespace avx2 {
const AttentionOps& attention_ops();
}
namespace avx512 {
const AttentionOps& attention_ops();
}
namespace emulated512 {
const AttentionOps& attention_ops();
}

}  // namespace headway
