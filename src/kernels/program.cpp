#include "kernels/program.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/text.h"
#include "tensor/element_type.h"

namespace headway {
namespace {

struct OpcodeInfo {
    Opcode op;
    std::string_view word;
    int reads;      // registers
    int constants;  // x, y
};

constexpr std::array<OpcodeInfo, 36> opcodes{{
    {Opcode::load, "load", 0, 0},
    {Opcode::imm, "imm", 0, 1},
    {Opcode::add, "add", 2, 0},
    {Opcode::sub, "sub", 2, 0},
    {Opcode::mul, "mul", 2, 0},
    {Opcode::div, "div", 2, 0},
    {Opcode::max, "max", 2, 0},
    {Opcode::min, "min", 2, 0},
    {Opcode::pow, "pow", 2, 0},
    {Opcode::neg, "neg", 1, 0},
    {Opcode::abs, "abs", 1, 0},
    {Opcode::sqrt, "sqrt", 1, 0},
    {Opcode::reciprocal, "reciprocal", 1, 0},
    {Opcode::exp, "exp", 1, 0},
    {Opcode::log, "log", 1, 0},
    {Opcode::erf, "erf", 1, 0},
    {Opcode::tanh, "tanh", 1, 0},
    {Opcode::sigmoid, "sigmoid", 1, 0},
    {Opcode::relu, "relu", 1, 0},
    {Opcode::floor, "floor", 1, 0},
    {Opcode::ceil, "ceil", 1, 0},
    {Opcode::round, "round", 1, 0},
    {Opcode::sin, "sin", 1, 0},
    {Opcode::cos, "cos", 1, 0},
    {Opcode::softplus, "softplus", 1, 0},
    {Opcode::gelu, "gelu", 1, 0},
    {Opcode::gelu_tanh, "gelu_tanh", 1, 0},
    {Opcode::clip, "clip", 1, 2},
    {Opcode::leaky_relu, "leaky_relu", 1, 1},
    {Opcode::hard_sigmoid, "hard_sigmoid", 1, 2},
    {Opcode::hard_swish, "hard_swish", 1, 0},
    {Opcode::silu, "silu", 1, 0},
    {Opcode::mul_add, "mul_add", 1, 2},
    {Opcode::elu, "elu", 1, 1},
    {Opcode::pow_imm, "pow_imm", 1, 1},
    {Opcode::bf16_round, "bf16_round", 1, 0},
}};

const OpcodeInfo& info_of(Opcode op) {
    const OpcodeInfo& info = opcodes[static_cast<size_t>(op)];
    HEADWAY_CHECK(info.op == op);
    return info;
}

// Shortest text that reads back to the same float.
std::string number_text(float value) {
    std::array<char, 32> buffer;
    const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
    return {buffer.data(), end};
}

std::string register_text(int index) { return "r" + std::to_string(index); }

std::string instruction_text(const Instruction& instruction) {
    const OpcodeInfo& info = info_of(instruction.op);
    std::string text = register_text(instruction.dst) + "=" + std::string(info.word);
    if (instruction.op == Opcode::load) text += " " + std::to_string(instruction.a);
    if (info.reads >= 1) text += " " + register_text(instruction.a);
    if (info.reads == 2) text += " " + register_text(instruction.b);
    if (info.constants >= 1) text += " " + number_text(instruction.x);
    if (info.constants == 2) text += " " + number_text(instruction.y);
    return text;
}

[[noreturn]] void bad_program(std::string_view text, const std::string& why) {
    throw UserError("step program: " + why + " in \"" + escaped(text) + "\"");
}

template <class T>
T parse_number(std::string_view word, std::string_view context) {
    T value{};
    const auto result = std::from_chars(word.data(), word.data() + word.size(), value);
    if (result.ec != std::errc{} || result.ptr != word.data() + word.size())
        bad_program(context, "'" + escaped(word) + "' is not a number");
    return value;
}

uint8_t parse_index(std::string_view word, int limit, std::string_view context) {
    const int index = parse_number<int>(word, context);
    if (index < 0 || index >= limit)
        bad_program(context, "index " + std::to_string(index) + " is outside [0, " + std::to_string(limit) + ")");
    return static_cast<uint8_t>(index);
}

uint8_t parse_register(std::string_view word, std::string_view context) {
    if (word.empty() || word[0] != 'r') bad_program(context, "'" + escaped(word) + "' is not a register");
    return parse_index(word.substr(1), Program::max_registers, context);
}

std::vector<std::string> words_of(std::string_view text) {
    std::vector<std::string> words;
    for (const std::string& word : split(text, ' '))
        if (!word.empty()) words.push_back(word);
    return words;
}

Instruction parse_instruction(std::string_view text, std::string_view context) {
    const size_t equal = text.find('=');
    if (equal == std::string_view::npos) bad_program(context, "'" + escaped(text) + "' has no '='");
    const std::vector<std::string> words = words_of(text.substr(equal + 1));
    if (words.empty()) bad_program(context, "'" + escaped(text) + "' has no operation");
    Instruction instruction;
    instruction.dst = parse_register(trimmed(text.substr(0, equal)), context);
    instruction.op = opcode_from_string(words[0]);
    const OpcodeInfo& info = info_of(instruction.op);
    const bool loads = instruction.op == Opcode::load;
    const size_t expected = 1 + static_cast<size_t>(loads ? 1 : info.reads + info.constants);
    if (words.size() != expected)
        bad_program(context, words[0] + " takes " + std::to_string(expected - 1) + " arguments");
    size_t next = 1;
    if (loads) instruction.a = parse_index(words[next++], std::numeric_limits<uint8_t>::max() + 1, context);
    if (info.reads >= 1) instruction.a = parse_register(words[next++], context);
    if (info.reads == 2) instruction.b = parse_register(words[next++], context);
    if (info.constants >= 1) instruction.x = parse_number<float>(words[next++], context);
    if (info.constants == 2) instruction.y = parse_number<float>(words[next++], context);
    return instruction;
}

// Register 0 counts as written: in an epilogue it holds the anchor's result.
void check_registers(const Program& program, std::string_view context) {
    std::array<bool, Program::max_registers> written{true};
    const auto read = [&](uint8_t index) {
        if (!written[index]) bad_program(context, register_text(index) + " is read before it is written");
    };
    for (const Instruction& instruction : program.code) {
        if (arity(instruction.op) >= 1) read(instruction.a);
        if (arity(instruction.op) == 2) read(instruction.b);
        written[instruction.dst] = true;
    }
    for (uint8_t result : program.results) read(result);
}

double to_bf16_and_back(double value) { return bf16_to_float(float_to_bf16(static_cast<float>(value))); }

// std::min and std::max drop a NaN in their second argument.
double nan_max(double a, double b) { return std::isnan(a) ? a : std::isnan(b) ? b : std::max(a, b); }
double nan_min(double a, double b) { return std::isnan(a) ? a : std::isnan(b) ? b : std::min(a, b); }
double clamped(double value, double low, double high) { return nan_min(nan_max(value, low), high); }
double sigmoid(double value) {
    return value >= 0 ? 1 / (1 + std::exp(-value)) : std::exp(value) / (1 + std::exp(value));
}

double binary(Opcode op, double a, double b) {
    switch (op) {
        case Opcode::add:
            return a + b;
        case Opcode::sub:
            return a - b;
        case Opcode::mul:
            return a * b;
        case Opcode::div:
            return a / b;
        case Opcode::max:
            return nan_max(a, b);
        case Opcode::min:
            return nan_min(a, b);
        default:
            HEADWAY_CHECK(op == Opcode::pow);
            return std::pow(a, b);
    }
}

double plain_unary(Opcode op, double a) {
    switch (op) {
        case Opcode::neg:
            return -a;
        case Opcode::abs:
            return std::fabs(a);
        case Opcode::sqrt:
            return std::sqrt(a);
        case Opcode::reciprocal:
            return 1 / a;
        case Opcode::exp:
            return std::exp(a);
        case Opcode::log:
            return std::log(a);
        case Opcode::erf:
            return std::erf(a);
        case Opcode::tanh:
            return std::tanh(a);
        case Opcode::sigmoid:
            return sigmoid(a);
        case Opcode::relu:
            return nan_max(a, 0);
        case Opcode::floor:
            return std::floor(a);
        case Opcode::ceil:
            return std::ceil(a);
        case Opcode::round:
            return std::nearbyint(a);
        case Opcode::sin:
            return std::sin(a);
        default:
            HEADWAY_CHECK(op == Opcode::cos);
            return std::cos(a);
    }
}

double activation(const Instruction& instruction, double a) {
    const double x = instruction.x;
    const double y = instruction.y;
    switch (instruction.op) {
        case Opcode::softplus:
            return nan_max(a, 0) + std::log1p(std::exp(-std::fabs(a)));
        case Opcode::gelu:
            return 0.5 * a * (1 + std::erf(a / std::sqrt(2.0)));
        case Opcode::gelu_tanh:
            return 0.5 * a * (1 + std::tanh(std::sqrt(2 / M_PI) * (a + 0.044715 * a * a * a)));
        case Opcode::clip:
            return clamped(a, x, y);
        case Opcode::leaky_relu:
            return a < 0 ? x * a : a;
        case Opcode::hard_sigmoid:
            return clamped(x * a + y, 0, 1);
        case Opcode::hard_swish:
            return a * clamped(a / 6 + 0.5, 0, 1);
        case Opcode::silu:
            return a * sigmoid(a);
        case Opcode::mul_add:
            return a * x + y;
        case Opcode::elu:
            return a < 0 ? x * std::expm1(a) : a;
        case Opcode::pow_imm:
            return std::pow(a, x);
        case Opcode::bf16_round:
            return to_bf16_and_back(a);
        default:
            return plain_unary(instruction.op, a);
    }
}

}  // namespace

std::string_view to_string(Opcode op) { return info_of(op).word; }

Opcode opcode_from_string(std::string_view word) {
    for (const OpcodeInfo& info : opcodes)
        if (info.word == word) return info.op;
    std::vector<std::string> known;
    for (const OpcodeInfo& info : opcodes) known.emplace_back(info.word);
    const std::string nearest = nearest_name(word, known);
    throw UserError("step program: unknown operation '" + escaped(word) + "'" +
                    (nearest.empty() ? "" : "; did you mean " + nearest + "?"));
}

int arity(Opcode op) { return info_of(op).reads; }

std::string Program::text() const {
    std::vector<std::string> parts;
    for (const Instruction& instruction : code) parts.push_back(instruction_text(instruction));
    std::string line = join(parts, "; ");
    if (!line.empty()) line += " ";
    line += "->";
    for (uint8_t result : results) line += " " + register_text(result);
    return line;
}

Program Program::parse(std::string_view text) {
    const size_t arrow = text.find("->");
    if (arrow == std::string_view::npos) bad_program(text, "no '->'");
    Program program;
    program.results.clear();
    const std::string_view code = trimmed(text.substr(0, arrow));
    if (!code.empty())
        for (const std::string& part : split(code, ';')) program.code.push_back(parse_instruction(part, text));
    for (const std::string& word : words_of(text.substr(arrow + 2)))
        program.results.push_back(parse_register(word, text));
    if (program.results.empty()) bad_program(text, "no result");
    check_registers(program, text);
    const auto grow = [](int& count, int index) { count = std::max(count, index + 1); };
    for (const Instruction& instruction : program.code) {
        grow(program.registers, instruction.dst);
        if (instruction.op == Opcode::load) grow(program.operands, instruction.a);
    }
    return program;
}

void evaluate(const Program& program, double anchor, const double* operands, double* results) {
    std::array<double, Program::max_registers> registers{};
    registers[0] = anchor;
    for (const Instruction& instruction : program.code) {
        double& dst = registers[instruction.dst];
        const double a = registers[arity(instruction.op) >= 1 ? instruction.a : 0];
        if (instruction.op == Opcode::load)
            dst = operands[instruction.a];
        else if (instruction.op == Opcode::imm)
            dst = instruction.x;
        else if (arity(instruction.op) == 2)
            dst = binary(instruction.op, a, registers[instruction.b]);
        else
            dst = activation(instruction, a);
    }
    for (size_t i = 0; i < program.results.size(); ++i) results[i] = registers[program.results[i]];
}

}  // namespace headway
