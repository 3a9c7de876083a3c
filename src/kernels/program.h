// A step program: straight-line f32 arithmetic on registers, the body of pointwise Groups and the epilogue of
// producers. Executed tile by tile (interpreter) or compiled; never a template parameter of a kernel.
//
// Register 0 holds the anchor's result in an epilogue (in a Pointwise step there is no anchor and register 0 is unused
// until written). `load` reads external operand k, broadcast to the dst shape as ONNX does.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headway {

enum class Opcode : uint8_t {
    load,  // r[dst] = operand[a]          (a = index of the external operand)
    imm,   // r[dst] = x
    add,
    sub,
    mul,
    div,
    max,
    min,
    pow,  // r[dst] = r[a] op r[b]
    neg,
    abs,
    sqrt,
    reciprocal,
    exp,
    log,
    erf,
    tanh,
    sigmoid,
    relu,  // r[dst] = f(r[a])
    floor,
    ceil,
    round,
    sin,
    cos,
    softplus,
    gelu,
    gelu_tanh,
    clip,          // min(max(r[a], x), y); NaN stays NaN
    leaky_relu,    // r[a] < 0 ? x * r[a] : r[a]
    hard_sigmoid,  // max(0, min(1, x * r[a] + y))
    hard_swish,    // r[a] * max(0, min(1, r[a] / 6 + 0.5))
    silu,          // r[a] * sigmoid(r[a])
    mul_add,       // r[a] * x + y
    elu,           // r[a] < 0 ? x * (exp(r[a]) - 1) : r[a]
    pow_imm,       // r[a] ^ x
    bf16_round,    // r[a] rounded to the nearest bfloat16
};

std::string_view to_string(Opcode op);
Opcode opcode_from_string(std::string_view word);  // UserError for unknown words
// Registers read: 0, 1 (a) or 2 (a and b). `load` reads none.
int arity(Opcode op);

struct Instruction {
    Opcode op = Opcode::imm;
    uint8_t dst = 0, a = 0, b = 0;
    float x = 0, y = 0;
    bool operator==(const Instruction&) const = default;
};

struct Program {
    std::vector<Instruction> code;
    int operands = 0;                 // external operands read by `load`
    int registers = 1;                // at most max_registers
    std::vector<uint8_t> results{0};  // register of each dst; epilogues have exactly one

    static constexpr int max_registers = 16;
    bool empty() const { return code.empty(); }
    bool operator==(const Program&) const = default;

    std::string text() const;                     // one line, "r1=load 0; r0=add r0 r1; r0=clip r0 0 6 -> r0"
    static Program parse(std::string_view text);  // UserError on bad text or broken register rules
};

// One evaluation in double, for tests and references: operands[k] are the broadcast values, anchor is register 0.
void evaluate(const Program& program, double anchor, const double* operands, double* results);

}  // namespace headway
