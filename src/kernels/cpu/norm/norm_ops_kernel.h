// Inner loops of Softmax and LayerNormalization (see norm_ops.h). Included once by each of norm_ops_<isa>.cpp.
#pragma once

#include "kernels/cpu/norm/norm_ops.h"
#include "kernels/cpu/pointwise/vector_math.h"

extern "C" {
float sqrtf(float);
float logf(float);
}

namespace headway::HEADWAY_ISA {
namespace {

HEADWAY_INLINE int rest_of(int64_t n, int64_t i) { return static_cast<int>(n - i < lanes ? n - i : lanes); }

HEADWAY_INLINE vf load_or(const float* p, int n, float fill) {
    return n == lanes ? load(p) : load_first_or(p, n, fill);
}
HEADWAY_INLINE void store_some(float* p, vf v, int n) {
    if (n == lanes)
        store(p, v);
    else
        store_first(p, v, n);
}

HEADWAY_INLINE float largest_of(vf v) { return any_nan(v) ? __builtin_nanf("") : largest(v); }

float largest_of_run(const float* src, int64_t n) {
    const float lowest = -__builtin_inff();
    vf most[2] = {broadcast(lowest), broadcast(lowest)};
    int64_t i = 0;
    for (; i + 2 * lanes <= n; i += 2 * lanes)
        for (int k = 0; k < 2; ++k) most[k] = max_nan(most[k], load(src + i + k * lanes));
    for (; i < n; i += lanes) most[0] = max_nan(most[0], load_or(src + i, rest_of(n, i), lowest));
    return largest_of(max_nan(most[0], most[1]));
}

// x - (largest + log of the sum).
void subtract_run(const float* src, float* dst, int64_t n, float amount) {
    for (int64_t i = 0; i < n; i += lanes) {
        const int count = rest_of(n, i);
        store_some(dst + i, load_or(src + i, count, 0) - broadcast(amount), count);
    }
}

template <class Poly>
float sum_of_exponentials(const float* src, int64_t n, float most) {
    const vf shift = broadcast(most);
    vf total = zero();
    for (int64_t i = 0; i < n; i += lanes)
        total = total + exp_or_zero<Poly>(load_or(src + i, rest_of(n, i), -__builtin_inff()) - shift);
    return sum(total);
}

template <class Poly>
void softmax_row_stored(const float* src, float* dst, int64_t n, bool logarithm) {
    const float most = largest_of_run(src, n);
    if (logarithm) return subtract_run(src, dst, n, most + logf(sum_of_exponentials<Poly>(src, n, most)));
    const vf shift = broadcast(most);
    vf total[2] = {zero(), zero()};
    int64_t i = 0;
    for (; i + 2 * lanes <= n; i += 2 * lanes)
        for (int k = 0; k < 2; ++k) {
            const vf e = exp_or_zero<Poly>(load(src + i + k * lanes) - shift);
            total[k] = total[k] + e;
            store(dst + i + k * lanes, e);
        }
    for (; i < n; i += lanes) {
        const int count = rest_of(n, i);
        const vf e = exp_or_zero<Poly>(load_or(src + i, count, -__builtin_inff()) - shift);
        total[0] = total[0] + e;
        store_some(dst + i, e, count);
    }
    const vf factor = broadcast(1.0F / sum(total[0] + total[1]));
    for (i = 0; i < n; i += lanes) {
        const int count = rest_of(n, i);
        store_some(dst + i, load_or(dst + i, count, 0) * factor, count);
    }
}

// Each lane keeps the maximum of what it has seen and the sum of exponentials relative to it.
template <class Poly>
void softmax_row_online(const float* src, float* dst, int64_t n, bool logarithm) {
    const float lowest = -3.0e38F;  // finite: -inf minus itself would be NaN
    vf most = broadcast(lowest);
    vf total = zero();
    for (int64_t i = 0; i < n; i += lanes) {
        const vf x = load_or(src + i, rest_of(n, i), -__builtin_inff());
        const vf higher = max_nan(most, x);
        total = total * exp_or_zero<Poly>(most - higher) + exp_or_zero<Poly>(x - higher);
        most = higher;
    }
    float all = largest_of(most);
    const float denominator = sum(total * exp_or_zero<Poly>(most - broadcast(all)));
    // Nothing but -inf, or +inf among the numbers: no finite shift, and the result is not a number.
    if (all <= lowest) all = -__builtin_inff();
    if (logarithm) return subtract_run(src, dst, n, all + logf(denominator));
    const vf shift = broadcast(all);
    const vf factor = broadcast(1.0F / denominator);
    for (int64_t i = 0; i < n; i += lanes) {
        const int count = rest_of(n, i);
        store_some(dst + i, exp_or_zero<Poly>(load_or(src + i, count, 0) - shift) * factor, count);
    }
}

template <class Poly>
void softmax_columns(const float* src, float* dst, int64_t rows, int64_t stride, int64_t cols, bool logarithm) {
    for (int64_t c = 0; c < cols; c += lanes) {
        const int count = rest_of(cols, c);
        vf most = load_or(src + c, count, 0);
        for (int64_t r = 1; r < rows; ++r) most = max_nan(most, load_or(src + r * stride + c, count, 0));
        vf total = zero();
        for (int64_t r = 0; r < rows; ++r) {
            const vf x = load_or(src + r * stride + c, count, 0) - most;
            const vf e = exp_or_zero<Poly>(x);
            total = total + e;
            store_some(dst + r * stride + c, logarithm ? x : e, count);
        }
        const vf factor = broadcast(1.0F) / total;
        const vf shift = log(total);
        for (int64_t r = 0; r < rows; ++r) {
            float* to = dst + r * stride + c;
            const vf e = load_or(to, count, 0);
            store_some(to, logarithm ? e - shift : e * factor, count);
        }
    }
}

float sum_of_run(const float* src, int64_t n) {
    vf total[2] = {zero(), zero()};
    int64_t i = 0;
    for (; i + 2 * lanes <= n; i += 2 * lanes)
        for (int k = 0; k < 2; ++k) total[k] = total[k] + load(src + i + k * lanes);
    for (; i < n; i += lanes) total[0] = total[0] + load_or(src + i, rest_of(n, i), 0);
    return sum(total[0] + total[1]);
}

void normalize_run(const float* src, const float* scale, const float* shift, float* dst, int64_t n, float mean,
                   float factor) {
    const vf center = broadcast(mean);
    const vf spread = broadcast(factor);
    for (int64_t i = 0; i < n; i += lanes) {
        const int count = rest_of(n, i);
        vf y = (load_or(src + i, count, 0) - center) * spread * load_or(scale + i, count, 0);
        if (shift != nullptr) y = y + load_or(shift + i, count, 0);
        store_some(dst + i, y, count);
    }
}

void layer_norm_two_pass(const float* src, const float* scale, const float* shift, float* dst, int64_t n,
                         float epsilon) {
    const float mean = sum_of_run(src, n) / static_cast<float>(n);
    const vf center = broadcast(mean);
    vf total = zero();
    for (int64_t i = 0; i < n; i += lanes) {
        const vf d = load_or(src + i, rest_of(n, i), mean) - center;
        total = fma(d, d, total);
    }
    const float variance = sum(total) / static_cast<float>(n);
    normalize_run(src, scale, shift, dst, n, mean, 1.0F / sqrtf(variance + epsilon));
}

// Deviations from the first element: without them a large mean would cancel the variance.
void layer_norm_one_pass(const float* src, const float* scale, const float* shift, float* dst, int64_t n,
                         float epsilon) {
    const float origin = src[0];
    const vf center = broadcast(origin);
    vf total = zero();
    vf squares = zero();
    for (int64_t i = 0; i < n; i += lanes) {
        const vf d = load_or(src + i, rest_of(n, i), origin) - center;
        total = total + d;
        squares = fma(d, d, squares);
    }
    const float offset = sum(total) / static_cast<float>(n);
    const float variance = sum(squares) / static_cast<float>(n) - offset * offset;
    const float kept = variance > 0 || variance != variance ? variance : 0.0F;
    normalize_run(src, scale, shift, dst, n, origin + offset, 1.0F / sqrtf(kept + epsilon));
}

}  // namespace

const NormOps& norm_ops() {
    static constexpr NormOps ops{{{{softmax_row_stored<Poly6>, softmax_row_online<Poly6>}, softmax_columns<Poly6>},
                                  {{softmax_row_stored<Poly4>, softmax_row_online<Poly4>}, softmax_columns<Poly4>}},
                                 {layer_norm_two_pass, layer_norm_one_pass}};
    return ops;
}

}  // namespace headway::HEADWAY_ISA
