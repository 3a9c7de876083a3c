// The micro-operations of the tile interpreter for one instruction set (see tile_ops.h). Included once by each of
// tile_ops_<isa>.cpp.
#pragma once

#include "kernels/cpu/pointwise/tile_ops.h"
#include "kernels/cpu/pointwise/vector_math.h"

extern "C" {
float powf(float, float);
float sinf(float);
float cosf(float);
float expf(float);
float tanhf(float);
}

namespace headway::HEADWAY_ISA {
namespace {

// How a pass reaches memory: whole vectors, or the lanes that are left at the end of a run.
struct Whole {
    HEADWAY_INLINE vf read(const float* p, int) { return load(p); }
    HEADWAY_INLINE void write(float* p, vf v, int) { store(p, v); }
};
struct Rest {
    HEADWAY_INLINE vf read(const float* p, int n) { return load_first(p, n); }
    HEADWAY_INLINE void write(float* p, vf v, int n) { store_first(p, v, n); }
};

// body(access, i, n) for each vector of a run; n lanes from element i.
template <int unroll, class Body>
HEADWAY_INLINE void for_vectors(int64_t count, Body body) {
    int64_t i = 0;
    for (; i + unroll * lanes <= count; i += unroll * lanes)
        for (int u = 0; u < unroll; ++u) body(Whole{}, i + u * lanes, lanes);
    for (; i + lanes <= count; i += lanes) body(Whole{}, i, lanes);
    if (i < count) body(Rest{}, i, static_cast<int>(count - i));
}

template <float (*function)(float)>
HEADWAY_INLINE vf by_lane(vf a) {
    alignas(64) float buffer[lanes];
    store(buffer, a);
    for (int i = 0; i < lanes; ++i) buffer[i] = function(buffer[i]);
    return load(buffer);
}

HEADWAY_INLINE vf pow_by_lane(vf a, vf b) {
    alignas(64) float base[lanes];
    alignas(64) float exponent[lanes];
    store(base, a);
    store(exponent, b);
    for (int i = 0; i < lanes; ++i) base[i] = powf(base[i], exponent[i]);
    return load(base);
}

// Nearest bfloat16, ties to even; NaN stays.
HEADWAY_INLINE vf bf16_nearest(vf a) {
    alignas(64) float buffer[lanes];
    store(buffer, a);
    for (int i = 0; i < lanes; ++i) {
        uint32_t bits;
        __builtin_memcpy(&bits, buffer + i, sizeof bits);
        const uint32_t rounded = (bits + 0x7FFFU + ((bits >> 16) & 1U)) & 0xFFFF0000U;
        bits = (bits & 0x7FFFFFFFU) > 0x7F800000U ? (bits | 0x00400000U) & 0xFFFF0000U : rounded;
        __builtin_memcpy(buffer + i, &bits, sizeof bits);
    }
    return load(buffer);
}

struct Add {
    HEADWAY_INLINE vf of(vf a, vf b) { return a + b; }
};
struct Sub {
    HEADWAY_INLINE vf of(vf a, vf b) { return a - b; }
};
struct Mul {
    HEADWAY_INLINE vf of(vf a, vf b) { return a * b; }
};
struct Div {
    HEADWAY_INLINE vf of(vf a, vf b) { return a / b; }
};
struct Max {
    HEADWAY_INLINE vf of(vf a, vf b) { return max_nan(a, b); }
};
struct Min {
    HEADWAY_INLINE vf of(vf a, vf b) { return min_nan(a, b); }
};
struct Pow {
    HEADWAY_INLINE vf of(vf a, vf b) { return pow_by_lane(a, b); }
};

struct Copy {
    HEADWAY_INLINE vf of(vf v, float, float) { return v; }
};
struct Relu {
    HEADWAY_INLINE vf of(vf v, float, float) { return relu(v); }
};
struct Clip {
    HEADWAY_INLINE vf of(vf v, float x, float y) { return clip(v, x, y); }
};
struct LeakyRelu {
    HEADWAY_INLINE vf of(vf v, float x, float) { return leaky_relu(v, x); }
};
struct HardSigmoid {
    HEADWAY_INLINE vf of(vf v, float x, float y) { return hard_sigmoid(v, x, y); }
};
struct HardSwish {
    HEADWAY_INLINE vf of(vf v, float, float) { return hard_swish(v); }
};
struct Neg {
    HEADWAY_INLINE vf of(vf v, float, float) { return v * broadcast(-1.0F); }
};
struct Abs {
    HEADWAY_INLINE vf of(vf v, float, float) { return abs(v); }
};
struct Sqrt {
    HEADWAY_INLINE vf of(vf v, float, float) { return sqrt(v); }
};
struct Reciprocal {
    HEADWAY_INLINE vf of(vf v, float, float) { return broadcast(1.0F) / v; }
};
struct Floor {
    HEADWAY_INLINE vf of(vf v, float, float) { return floor(v); }
};
struct Ceil {
    HEADWAY_INLINE vf of(vf v, float, float) { return ceil(v); }
};
struct Round {
    HEADWAY_INLINE vf of(vf v, float, float) { return round_even(v); }
};
struct Log {
    HEADWAY_INLINE vf of(vf v, float, float) { return log(v); }
};
struct Erf {
    HEADWAY_INLINE vf of(vf v, float, float) { return erf(v); }
};
struct Softplus {
    HEADWAY_INLINE vf of(vf v, float, float) { return softplus(v); }
};
struct Gelu {
    HEADWAY_INLINE vf of(vf v, float, float) { return gelu(v); }
};
struct GeluTanh {
    HEADWAY_INLINE vf of(vf v, float, float) { return gelu_tanh(v); }
};
struct Elu {
    HEADWAY_INLINE vf of(vf v, float x, float) { return elu(v, x); }
};
struct Bf16Round {
    HEADWAY_INLINE vf of(vf v, float, float) { return bf16_nearest(v); }
};
struct Sin {
    HEADWAY_INLINE vf of(vf v, float, float) { return by_lane<sinf>(v); }
};
struct Cos {
    HEADWAY_INLINE vf of(vf v, float, float) { return by_lane<cosf>(v); }
};
template <class Poly>
struct Exp {
    HEADWAY_INLINE vf of(vf v, float, float) { return exp<Poly>(v); }
};
template <class Poly>
struct Tanh {
    HEADWAY_INLINE vf of(vf v, float, float) { return tanh<Poly>(v); }
};
template <class Poly>
struct Sigmoid {
    HEADWAY_INLINE vf of(vf v, float, float) { return sigmoid<Poly>(v); }
};
template <class Poly>
struct Silu {
    HEADWAY_INLINE vf of(vf v, float, float) { return silu<Poly>(v); }
};
struct ExpLibm {
    HEADWAY_INLINE vf of(vf v, float, float) { return by_lane<expf>(v); }
};
struct TanhLibm {
    HEADWAY_INLINE vf of(vf v, float, float) { return by_lane<tanhf>(v); }
};
struct SigmoidLibm {
    HEADWAY_INLINE vf of(vf v, float, float) { return broadcast(1.0F) / (broadcast(1.0F) + by_lane<expf>(zero() - v)); }
};
struct SiluLibm {
    HEADWAY_INLINE vf of(vf v, float x, float y) { return v * SigmoidLibm::of(v, x, y); }
};

// Cheap passes are unrolled to hide the loop; in expensive ones two vectors already fill the registers.
template <class Op, int unroll>
void unary_pass(float* dst, const float* a, const float*, const float*, float x, float y, int64_t count) {
    for_vectors<unroll>(
        count, [&](auto access, int64_t i, int n) { access.write(dst + i, Op::of(access.read(a + i, n), x, y), n); });
}

void spread_pass(float* dst, const float* a, const float*, const float*, float, float, int64_t count) {
    const vf value = broadcast(*a);
    for_vectors<4>(count, [&](auto access, int64_t i, int n) { access.write(dst + i, value, n); });
}

template <class Op, Form form, class Then>
void binary_pass(float* dst, const float* a, const float* b, const float*, float x, float y, int64_t count) {
    const vf scalar = broadcast(form == Form::sv ? *a : *b);
    for_vectors<4>(count, [&](auto access, int64_t i, int n) {
        const vf left = form == Form::sv ? scalar : access.read(a + i, n);
        const vf right = form == Form::vs ? scalar : access.read(b + i, n);
        access.write(dst + i, Then::of(Op::of(left, right), x, y), n);
    });
}

template <Form form, class Then>
void fma_pass(float* dst, const float* a, const float* b, const float* c, float x, float y, int64_t count) {
    const vf factor = broadcast(*b);
    const vf addend = broadcast(*c);
    for_vectors<4>(count, [&](auto access, int64_t i, int n) {
        const vf right = form == Form::sv || form == Form::ss ? factor : access.read(b + i, n);
        const vf third = form == Form::vs || form == Form::ss ? addend : access.read(c + i, n);
        access.write(dst + i, Then::of(fma(access.read(a + i, n), right, third), x, y), n);
    });
}

using FormRow = TileFunction[static_cast<int>(Post::count)];

template <class Op, Form form>
void set_posts(FormRow& row) {
    row[static_cast<int>(Post::none)] = binary_pass<Op, form, Copy>;
    row[static_cast<int>(Post::relu)] = binary_pass<Op, form, Relu>;
    row[static_cast<int>(Post::clip)] = binary_pass<Op, form, Clip>;
    row[static_cast<int>(Post::leaky_relu)] = binary_pass<Op, form, LeakyRelu>;
    row[static_cast<int>(Post::hard_sigmoid)] = binary_pass<Op, form, HardSigmoid>;
    row[static_cast<int>(Post::hard_swish)] = binary_pass<Op, form, HardSwish>;
}

template <Form form>
void set_fma_posts(TileOps& ops) {
    FormRow& row = ops.functions[static_cast<int>(MicroOp::fma)][static_cast<int>(form)];
    row[static_cast<int>(Post::none)] = fma_pass<form, Copy>;
    row[static_cast<int>(Post::relu)] = fma_pass<form, Relu>;
    row[static_cast<int>(Post::clip)] = fma_pass<form, Clip>;
    row[static_cast<int>(Post::leaky_relu)] = fma_pass<form, LeakyRelu>;
    row[static_cast<int>(Post::hard_sigmoid)] = fma_pass<form, HardSigmoid>;
    row[static_cast<int>(Post::hard_swish)] = fma_pass<form, HardSwish>;
}

template <class Op>
void set_fusable(TileOps& ops, MicroOp op) {
    auto& forms = ops.functions[static_cast<int>(op)];
    set_posts<Op, Form::vv>(forms[static_cast<int>(Form::vv)]);
    set_posts<Op, Form::vs>(forms[static_cast<int>(Form::vs)]);
    set_posts<Op, Form::sv>(forms[static_cast<int>(Form::sv)]);
}

template <class Op>
void set_binary(TileOps& ops, MicroOp op) {
    auto& forms = ops.functions[static_cast<int>(op)];
    forms[static_cast<int>(Form::vv)][0] = binary_pass<Op, Form::vv, Copy>;
    forms[static_cast<int>(Form::vs)][0] = binary_pass<Op, Form::vs, Copy>;
    forms[static_cast<int>(Form::sv)][0] = binary_pass<Op, Form::sv, Copy>;
}

template <class Op, int unroll = 4>
void set_unary(TileOps& ops, MicroOp op) {
    ops.functions[static_cast<int>(op)][static_cast<int>(Form::vv)][0] = unary_pass<Op, unroll>;
}

void set_all_unary(TileOps& ops) {
    set_unary<Copy>(ops, MicroOp::copy);
    ops.functions[static_cast<int>(MicroOp::copy)][static_cast<int>(Form::sv)][0] = spread_pass;
    set_unary<Neg>(ops, MicroOp::neg);
    set_unary<Abs>(ops, MicroOp::abs);
    set_unary<Sqrt>(ops, MicroOp::sqrt);
    set_unary<Reciprocal>(ops, MicroOp::reciprocal);
    set_unary<Exp<Poly6>, 2>(ops, MicroOp::exp);
    set_unary<Log, 2>(ops, MicroOp::log);
    set_unary<Erf, 2>(ops, MicroOp::erf);
    set_unary<Tanh<Poly6>, 2>(ops, MicroOp::tanh);
    set_unary<Sigmoid<Poly6>, 2>(ops, MicroOp::sigmoid);
    set_unary<Relu>(ops, MicroOp::relu);
    set_unary<Floor>(ops, MicroOp::floor);
    set_unary<Ceil>(ops, MicroOp::ceil);
    set_unary<Round>(ops, MicroOp::round);
    set_unary<Sin, 1>(ops, MicroOp::sin);
    set_unary<Cos, 1>(ops, MicroOp::cos);
    set_unary<Softplus, 2>(ops, MicroOp::softplus);
    set_unary<Gelu, 2>(ops, MicroOp::gelu);
    set_unary<GeluTanh, 2>(ops, MicroOp::gelu_tanh);
    set_unary<Clip>(ops, MicroOp::clip);
    set_unary<LeakyRelu>(ops, MicroOp::leaky_relu);
    set_unary<HardSigmoid>(ops, MicroOp::hard_sigmoid);
    set_unary<HardSwish>(ops, MicroOp::hard_swish);
    set_unary<Silu<Poly6>, 2>(ops, MicroOp::silu);
    set_unary<Elu, 2>(ops, MicroOp::elu);
    set_unary<Bf16Round, 1>(ops, MicroOp::bf16_round);
}

void set_exp(TileOps& ops, ExpKind kind, TileFunction exp, TileFunction sigmoid, TileFunction silu, TileFunction tanh) {
    TileFunction* row = ops.exp_functions[static_cast<int>(kind)];
    row[static_cast<int>(MicroOp::exp)] = exp;
    row[static_cast<int>(MicroOp::sigmoid)] = sigmoid;
    row[static_cast<int>(MicroOp::silu)] = silu;
    row[static_cast<int>(MicroOp::tanh)] = tanh;
}

TileOps make_tile_ops() {
    TileOps ops;
    ops.lanes = lanes;
    set_all_unary(ops);
    set_fusable<Add>(ops, MicroOp::add);
    set_fusable<Sub>(ops, MicroOp::sub);
    set_fusable<Mul>(ops, MicroOp::mul);
    set_binary<Div>(ops, MicroOp::div);
    set_binary<Max>(ops, MicroOp::max);
    set_binary<Min>(ops, MicroOp::min);
    set_binary<Pow>(ops, MicroOp::pow);
    set_fma_posts<Form::vv>(ops);
    set_fma_posts<Form::vs>(ops);
    set_fma_posts<Form::sv>(ops);
    set_fma_posts<Form::ss>(ops);
    set_exp(ops, ExpKind::poly4, unary_pass<Exp<Poly4>, 2>, unary_pass<Sigmoid<Poly4>, 2>, unary_pass<Silu<Poly4>, 2>,
            unary_pass<Tanh<Poly4>, 2>);
    set_exp(ops, ExpKind::libm, unary_pass<ExpLibm, 1>, unary_pass<SigmoidLibm, 1>, unary_pass<SiluLibm, 1>,
            unary_pass<TanhLibm, 1>);
    return ops;
}

}  // namespace

const TileOps& tile_ops() {
    static const TileOps ops = make_tile_ops();
    return ops;
}

}  // namespace headway::HEADWAY_ISA
