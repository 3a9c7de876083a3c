// Elementary functions on `vf`, written once for all instruction sets. The stated errors are the largest that
// tile_program_test finds against double precision over the whole range, in units in the last place (ulp) of the
// result, for results that are not denormal. NaN gives NaN; infinities give the limits.
//
// Include only from per-ISA sources, after simd.h.
#pragma once

#include "kernels/cpu/simd.h"

namespace headway::HEADWAY_ISA {

// c[0] x^(n-1) + ... + c[n-1].
template <int n>
HEADWAY_INLINE vf horner(vf x, const float (&c)[n]) {
    vf sum = broadcast(c[0]);
    for (int i = 1; i < n; ++i) sum = fma(sum, x, broadcast(c[i]));
    return sum;
}

// min and max as simd.h has them return the second operand when either is NaN: with the constant first, NaN of x stays.
HEADWAY_INLINE vf at_least(vf x, float low) { return max(broadcast(low), x); }
HEADWAY_INLINE vf at_most(vf x, float high) { return min(broadcast(high), x); }

// x = n * ln 2 + r with n integral and |r| <= ln 2 / 2.
HEADWAY_INLINE vf reduce_exp(vf x, vf& r) {
    const vf n = round_even(x * broadcast(1.44269504088896341F));
    r = fma(n, broadcast(-0.693359375F), x);
    r = fma(n, broadcast(2.12194440e-4F), r);
    return n;
}

// The polynomials of this file are minimax fits (Lawson's iteration) on the ranges that their callers reduce to.
// e^r = 1 + r + r^2 * p(r) for |r| <= ln 2 / 2, relative error 3e-9.
HEADWAY_INLINE vf exp_minus_one_reduced(vf r) {
    const vf p = horner(r, {0.00138144672F, 0.00836878084F, 0.0416683927F, 0.166665196F, 0.49999994F});
    return fma(p, r * r, r);
}

// exp on the reduced range: degree 6, or degree 4 (relative error 3e-6).
struct Poly6 {
    HEADWAY_INLINE vf exp_reduced(vf r) { return exp_minus_one_reduced(r) + broadcast(1.0F); }
};
struct Poly4 {
    HEADWAY_INLINE vf exp_reduced(vf r) {
        return horner(r, {0.0415135175F, 0.167877108F, 0.500030279F, 0.999966681F, 1.0F});
    }
};

// exp: 1.5 ulp. In two factors, so that results reach from the denormals to infinity.
template <class Poly = Poly6>
HEADWAY_INLINE vf exp(vf x) {
    vf r;
    const vf n = reduce_exp(at_least(at_most(x, 89.5F), -104.5F), r);
    const vf half = round_even(n * broadcast(0.5F));
    return Poly::exp_reduced(r) * exp2_integer(half) * exp2_integer(n - half);
}

// exp for x <= 0: 1.5 ulp; below -87.3 it stays at the smallest normal number.
template <class Poly = Poly6>
HEADWAY_INLINE vf exp_nonpositive(vf x) {
    vf r;
    const vf n = reduce_exp(at_least(x, -87.33F), r);
    return Poly::exp_reduced(r) * exp2_integer(n);
}

// exp of numbers <= 0, exactly 0 where a mask of -inf asks for it.
template <class Poly = Poly6>
HEADWAY_INLINE vf exp_or_zero(vf x) {
    return select_less(x, broadcast(-87.33F), zero(), exp_nonpositive<Poly>(x));
}

// exp(x) - 1 for x <= 0, without cancellation near 0: 2 ulp.
HEADWAY_INLINE vf expm1_nonpositive(vf x) {
    vf r;
    const vf n = reduce_exp(at_least(x, -30.0F), r);
    const vf scale = exp2_integer(n);
    return fma(exp_minus_one_reduced(r), scale, scale - broadcast(1.0F));
}

// Natural logarithm of normal numbers > 0: 1 ulp.
HEADWAY_INLINE vf log_normal(vf x) {
    // mantissa in [sqrt(1/2), sqrt(2))
    const vf big = mantissa(x);
    const vf limit = broadcast(1.41421356237309505F);
    const vf m = select_less(big, limit, big, big * broadcast(0.5F)) - broadcast(1.0F);
    const vf e = select_less(big, limit, exponent(x), exponent(x) + broadcast(1.0F));
    const vf p = horner(m, {0.0674663857F, -0.116756514F, 0.118881628F, -0.124055892F, 0.142195523F, -0.166679963F,
                            0.200021192F, -0.250000089F, 0.333333135F});
    const vf square = m * m;
    vf y = p * m * square;
    y = fma(e, broadcast(-2.12194440e-4F), y);
    y = fma(square, broadcast(-0.5F), y);
    return fma(e, broadcast(0.693359375F), m + y);
}

// log: 1 ulp, denormals included (unless flushed); -inf at 0, NaN below.
HEADWAY_INLINE vf log(vf x) {
    const vf smallest_normal = broadcast(1.17549435e-38F);
    const vf tiny = select_less(x, smallest_normal, broadcast(8388608.0F), broadcast(1.0F));
    const vf shift = select_less(x, smallest_normal, broadcast(15.9423851F), zero());  // ln 2^23
    const vf y = log_normal(x * tiny) - shift;
    const vf infinity = broadcast(__builtin_inff());
    const vf below_infinity = select_less(x, infinity, y, x);  // NaN and +inf give themselves
    const vf not_negative = select_less(x, zero(), broadcast(__builtin_nanf("")), below_infinity);
    const vf at_zero = select_less(zero(), abs(x), not_negative, zero() - infinity);
    return select_nan(x, x, at_zero);
}

// sigmoid: 2.5 ulp where the result is above 2e-38.
template <class Poly = Poly6>
HEADWAY_INLINE vf sigmoid(vf x) {
    const vf e = exp_nonpositive<Poly>(zero() - abs(x));
    const vf numerator = select_less(x, zero(), e, broadcast(1.0F));
    return select_nan(x, x, numerator / (broadcast(1.0F) + e));
}

// tanh: 2 ulp. A polynomial near 0, exp beyond.
template <class Poly = Poly6>
HEADWAY_INLINE vf tanh(vf x) {
    const vf a = abs(x);
    const vf square = x * x;
    const vf p = horner(square, {-0.00571468612F, 0.0206485726F, -0.0537429117F, 0.133314848F, -0.333332837F});
    const vf near = fma(p * square, x, x);
    const vf e = exp_nonpositive<Poly>(broadcast(-2.0F) * a);
    const vf far = copy_sign((broadcast(1.0F) - e) / (broadcast(1.0F) + e), x);
    return select_nan(x, x, select_less(a, broadcast(0.625F), near, far));
}

// erf: 1.5 ulp. x + x * p(x^2) near 0, 1 - exp(a * q(a)) beyond.
HEADWAY_INLINE vf erf(vf x) {
    const vf a = at_most(abs(x), 4.0F);
    const vf p = horner(a * a, {8.33015220e-05F, -0.000813385122F, 0.00520031713F, -0.0268591431F, 0.11283692F,
                                -0.376126349F, 0.128379166F});
    const vf near = fma(p, x, x);
    const vf q =
        horner(a, {0.00021403651F, -0.00321538118F, 0.0228913296F, -0.105263978F, -0.635716677F, -1.12851489F});
    const vf far = copy_sign(broadcast(1.0F) - exp_nonpositive(a * q), x);
    return select_nan(x, x, select_less(a, broadcast(0.9277F), near, far));
}

// log(1 + exp(x)): 3 ulp. log1p by Kahan's correction: the rounding of 1 + e cancels.
HEADWAY_INLINE vf softplus(vf x) {
    const vf one = broadcast(1.0F);
    const vf e = exp_nonpositive(zero() - abs(x));
    const vf u = one + e;
    const vf corrected = log_normal(u) * e / (u - one);
    const vf tail = select_less(one, u, corrected, e);
    return select_nan(x, x, max(zero(), x) + tail);
}

HEADWAY_INLINE vf relu(vf x) { return at_least(x, 0.0F); }
HEADWAY_INLINE vf clip(vf x, float low, float high) { return at_most(at_least(x, low), high); }
HEADWAY_INLINE vf leaky_relu(vf x, float slope) { return select_less(x, zero(), x * broadcast(slope), x); }
HEADWAY_INLINE vf hard_sigmoid(vf x, float slope, float shift) {
    return clip(fma(x, broadcast(slope), broadcast(shift)), 0.0F, 1.0F);
}
HEADWAY_INLINE vf hard_swish(vf x) { return x * hard_sigmoid(x, 1.0F / 6.0F, 0.5F); }
template <class Poly = Poly6>
HEADWAY_INLINE vf silu(vf x) {
    return x * sigmoid<Poly>(x);
}
HEADWAY_INLINE vf elu(vf x, float alpha) { return select_less(x, zero(), broadcast(alpha) * expm1_nonpositive(x), x); }
// x * erfc(-x / sqrt 2) / 2: 5 ulp above -1, 2e-7 of x everywhere. erfc(u / sqrt 2) = 2^-(u * q(u)) serves both
// signs, so that nothing cancels below zero. At -inf it is NaN, as ONNX's formula is.
HEADWAY_INLINE vf gelu(vf x) {
    const vf u = at_most(abs(x), 16.0F);
    const vf q = horner(u, {-1.69359472e-06F, 2.60746438e-05F, -0.000125356673F, -0.000276206760F, 0.00723234005F,
                            -0.0526014902F, -0.459178388F, -1.15110791F});
    const vf t = at_least(u * q, -126.0F), n = round_even(t), r = t - n;
    const vf power = horner(r, {0.00134072371F, 0.00967186131F, 0.0555030853F, 0.240222350F, 0.693147242F, 1.0F});
    const vf tail = u * broadcast(0.5F) * (power * exp2_integer(n));
    return select_less(x, zero(), fma(x, zero(), zero() - tail), x - tail);
}
HEADWAY_INLINE vf gelu_tanh(vf x) {
    const vf cube = x * x * x;
    const vf inner = broadcast(0.797884560802865356F) * fma(cube, broadcast(0.044715F), x);
    const vf half = x * broadcast(0.5F);
    return fma(half, tanh(inner), half);
}

}  // namespace headway::HEADWAY_ISA
