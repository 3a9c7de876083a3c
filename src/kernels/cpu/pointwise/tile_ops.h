// The micro-operations of the tile interpreter: each makes one pass over a run of floats. One table of them is compiled
// for each instruction set; tile_code.h translates step programs into sequences of them.
#pragma once

#include <cstdint>

#include "kernels/target.h"

namespace headway {

enum class MicroOp : uint8_t {
    copy,
    add,
    sub,
    mul,
    div,
    max,
    min,
    pow,
    fma,  // a * b + c
    neg,
    abs,
    sqrt,
    reciprocal,
    exp,
    log,
    erf,
    tanh,
    sigmoid,
    relu,
    floor,
    ceil,
    round,
    sin,
    cos,
    softplus,
    gelu,
    gelu_tanh,
    clip,
    leaky_relu,
    hard_sigmoid,
    hard_swish,
    silu,
    elu,
    bf16_round,
    count,
};

// Which inputs are one float for the whole run (s) instead of a float for each element (v).
enum class Form : uint8_t { vv, vs, sv, ss, count };  // fma: a is v, the letters stand for b and c; ss only for fma

// A cheap function of the result, applied while it is in a register.
enum class Post : uint8_t { none, relu, clip, leaky_relu, hard_sigmoid, hard_swish, count };

// x, y are the constants of the operation or of its post function (never both have some).
using TileFunction = void (*)(float* dst, const float* a, const float* b, const float* c, float x, float y, int64_t n);

// How exp and what is built on it are computed: a polynomial of this degree after range reduction, or the C library.
enum class ExpKind : uint8_t { poly6, poly4, libm, count };

struct TileOps {
    int lanes = 0;
    TileFunction functions[static_cast<int>(MicroOp::count)][static_cast<int>(Form::count)]
                          [static_cast<int>(Post::count)] = {};
    // exp, sigmoid, silu, tanh with another ExpKind than poly6.
    TileFunction exp_functions[static_cast<int>(ExpKind::count)][static_cast<int>(MicroOp::count)] = {};

    // nullptr where this combination is not made.
    TileFunction find(MicroOp op, Form form, Post post, ExpKind exp) const {
        const TileFunction special = exp_functions[static_cast<int>(exp)][static_cast<int>(op)];
        if (special != nullptr) return special;
        return functions[static_cast<int>(op)][static_cast<int>(form)][static_cast<int>(post)];
    }
};

namespace baseline {
const TileOps& tile_ops();
}
namespace avx2 {
const TileOps& tile_ops();
}
namespace avx512 {
const TileOps& tile_ops();
}
namespace emulated512 {
const TileOps& tile_ops();
}  // namespace emulated512

const TileOps& tile_ops_of(Isa isa);

}  // namespace headway
