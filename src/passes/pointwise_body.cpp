#include "passes/pointwise_body.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

#include "base/error.h"
#include "passes/match.h"

namespace headway {
namespace {

struct Entry {
    std::string_view op;
    Opcode code;
    PointwiseClass kind;
};

// Operators of one input, and operators of two or more that are folded from the left.
constexpr std::array unary_ops{
    Entry{"Abs", Opcode::abs, PointwiseClass::arithmetic},
    Entry{"Ceil", Opcode::ceil, PointwiseClass::activation},
    Entry{"Clip", Opcode::clip, PointwiseClass::clip},
    Entry{"Cos", Opcode::cos, PointwiseClass::activation},
    Entry{"Elu", Opcode::elu, PointwiseClass::activation},
    Entry{"Erf", Opcode::erf, PointwiseClass::activation},
    Entry{"Exp", Opcode::exp, PointwiseClass::activation},
    Entry{"Floor", Opcode::floor, PointwiseClass::activation},
    Entry{"Gelu", Opcode::gelu, PointwiseClass::activation},
    Entry{"HardSigmoid", Opcode::hard_sigmoid, PointwiseClass::activation},
    Entry{"HardSwish", Opcode::hard_swish, PointwiseClass::activation},
    Entry{"LeakyRelu", Opcode::leaky_relu, PointwiseClass::activation},
    Entry{"Log", Opcode::log, PointwiseClass::activation},
    Entry{"Neg", Opcode::neg, PointwiseClass::arithmetic},
    Entry{"Reciprocal", Opcode::reciprocal, PointwiseClass::activation},
    Entry{"Relu", Opcode::relu, PointwiseClass::relu},
    Entry{"Round", Opcode::round, PointwiseClass::activation},
    Entry{"Sigmoid", Opcode::sigmoid, PointwiseClass::activation},
    Entry{"Sin", Opcode::sin, PointwiseClass::activation},
    Entry{"Softplus", Opcode::softplus, PointwiseClass::activation},
    Entry{"Sqrt", Opcode::sqrt, PointwiseClass::activation},
    Entry{"Tanh", Opcode::tanh, PointwiseClass::activation},
};
constexpr std::array binary_ops{
    Entry{"Add", Opcode::add, PointwiseClass::arithmetic}, Entry{"Div", Opcode::div, PointwiseClass::arithmetic},
    Entry{"Max", Opcode::max, PointwiseClass::arithmetic}, Entry{"Min", Opcode::min, PointwiseClass::arithmetic},
    Entry{"Mul", Opcode::mul, PointwiseClass::arithmetic}, Entry{"Pow", Opcode::pow, PointwiseClass::activation},
    Entry{"Sub", Opcode::sub, PointwiseClass::arithmetic}, Entry{"Sum", Opcode::add, PointwiseClass::arithmetic},
};

template <size_t N>
const Entry* find(const std::array<Entry, N>& table, std::string_view op) {
    const auto at = std::ranges::find(table, op, &Entry::op);
    return at == table.end() ? nullptr : &*at;
}

// An instruction whose operands are still values, before registers are given out.
struct Draft {
    Instruction instruction;
    int result = 0, a = -1, b = -1;  // virtual registers
};

// Turns a body into instructions over virtual registers; 0 is the anchor's result.
class Drafting {
public:
    explicit Drafting(const Graph& body) : body_(body) {}

    void set_anchor(ValueId value) { registers_[value] = 0; }
    void add(const Node& node);
    int register_of(ValueId value);  // loads external values on first use
    const std::vector<Draft>& drafts() const { return drafts_; }
    const std::vector<ValueId>& operands() const { return operands_; }
    int count() const { return next_; }

private:
    int emit(Instruction instruction, int a = -1, int b = -1) {
        drafts_.push_back({instruction, next_, a, b});
        return next_++;
    }
    std::optional<float> immediate(ValueId value) const { return scalar_constant(body_, value); }
    int unary(const Node& node, const Entry& entry);
    int binary(const Entry& entry, ValueId a, ValueId b);
    int with_immediate(Opcode code, int a, float x, bool reversed);
    bool is_sigmoid_of(ValueId sigmoid, ValueId x) const;

    const Graph& body_;
    std::map<ValueId, int> registers_;
    std::vector<Draft> drafts_;
    std::vector<ValueId> operands_;
    int next_ = 1;
};

int Drafting::register_of(ValueId value) {
    const auto known = registers_.find(value);
    if (known != registers_.end()) return known->second;
    Instruction instruction;
    if (const std::optional<float> x = immediate(value)) {
        instruction.op = Opcode::imm;
        instruction.x = *x;
    } else {
        instruction.op = Opcode::load;
        instruction.a = static_cast<uint8_t>(operands_.size());
        operands_.push_back(value);
    }
    return registers_[value] = emit(instruction);
}

int Drafting::unary(const Node& node, const Entry& entry) {
    Instruction instruction{.op = entry.code};
    const Attributes& attributes = node.attributes;
    switch (entry.code) {
        case Opcode::clip: {
            const Bounds bounds = *clip_bounds(body_, node);
            instruction.x = bounds.low;
            instruction.y = bounds.high;
            break;
        }
        case Opcode::leaky_relu:
            instruction.x = attributes.real("alpha", 0.01F);
            break;
        case Opcode::elu:
            instruction.x = attributes.real("alpha", 1.0F);
            break;
        case Opcode::hard_sigmoid:
            instruction.x = attributes.real("alpha", 0.2F);
            instruction.y = attributes.real("beta", 0.5F);
            break;
        case Opcode::gelu:
            if (attributes.text("approximate", "none") == "tanh") instruction.op = Opcode::gelu_tanh;
            break;
        default:
            break;
    }
    return emit(instruction, register_of(node.inputs[0]));
}

// `a op x` with a number x, or `x op a` when reversed, without a register for x where an opcode allows that; -1
// otherwise. x*1+y and x*c+(-0) are exact.
int Drafting::with_immediate(Opcode code, int a, float x, bool reversed) {
    const auto affine = [&](float scale, float shift) {
        return emit({.op = Opcode::mul_add, .x = scale, .y = shift}, a);
    };
    constexpr float infinity = std::numeric_limits<float>::infinity();
    switch (code) {
        case Opcode::add:
            return affine(1, x);
        case Opcode::sub:
            return reversed ? affine(-1, x) : affine(1, -x);
        case Opcode::mul:
            return affine(x, -0.0F);
        case Opcode::max:
            return std::isnan(x) ? -1 : emit({.op = Opcode::clip, .x = x, .y = infinity}, a);
        case Opcode::min:
            return std::isnan(x) ? -1 : emit({.op = Opcode::clip, .x = -infinity, .y = x}, a);
        case Opcode::div:
            return !reversed && has_exact_reciprocal(x) ? affine(1 / x, -0.0F) : -1;
        case Opcode::pow:
            if (reversed) return -1;
            if (x == 2) return emit({.op = Opcode::mul}, a, a);
            return emit({.op = Opcode::pow_imm, .x = x}, a);
        default:
            return -1;
    }
}

bool Drafting::is_sigmoid_of(ValueId sigmoid, ValueId x) const {
    const NodeId producer = body_.value(sigmoid).producer;
    return producer != no_node && body_.node(producer).op == "Sigmoid" && body_.node(producer).inputs[0] == x;
}

int Drafting::binary(const Entry& entry, ValueId a, ValueId b) {
    if (entry.code == Opcode::mul && is_sigmoid_of(b, a)) return emit({.op = Opcode::silu}, register_of(a));
    if (entry.code == Opcode::mul && is_sigmoid_of(a, b)) return emit({.op = Opcode::silu}, register_of(b));
    if (const std::optional<float> x = immediate(b)) {
        const int result = with_immediate(entry.code, register_of(a), *x, false);
        if (result >= 0) return result;
    } else if (const std::optional<float> y = immediate(a)) {
        const int result = with_immediate(entry.code, register_of(b), *y, true);
        if (result >= 0) return result;
    }
    const int left = register_of(a);
    return emit({.op = entry.code}, left, register_of(b));
}

void Drafting::add(const Node& node) {
    if (const Entry* entry = find(unary_ops, node.op)) {
        registers_[node.outputs[0]] = unary(node, *entry);
        return;
    }
    const Entry& entry = *find(binary_ops, node.op);
    if (node.inputs.size() == 1) {
        registers_[node.outputs[0]] = register_of(node.inputs[0]);
        return;
    }
    int result = binary(entry, node.inputs[0], node.inputs[1]);
    for (size_t i = 2; i < node.inputs.size(); ++i)
        result = emit({.op = entry.code}, result, register_of(node.inputs[i]));
    registers_[node.outputs[0]] = result;
}

// Drops instructions whose results nobody reads (a Sigmoid that became part of a silu) and merges x*c followed by +d.
std::vector<Draft> cleaned(std::vector<Draft> drafts, const std::vector<int>& results, int count) {
    std::vector<int> reads(static_cast<size_t>(count), 0);
    const auto read = [&](int r) -> int& { return reads[static_cast<size_t>(r)]; };
    for (int r : results) ++read(r);
    for (auto draft = drafts.rbegin(); draft != drafts.rend(); ++draft) {
        if (read(draft->result) == 0) {
            draft->result = -1;
            continue;
        }
        if (draft->a >= 0) ++read(draft->a);
        if (draft->b >= 0) ++read(draft->b);
    }
    for (size_t i = 0; i < drafts.size(); ++i) {
        Draft& shift = drafts[i];
        if (shift.result < 0 || shift.instruction.op != Opcode::mul_add || shift.instruction.x != 1) continue;
        const auto scale =
            std::ranges::find(drafts.begin(), drafts.begin() + static_cast<int64_t>(i), shift.a, &Draft::result);
        if (scale == drafts.begin() + static_cast<int64_t>(i) || read(shift.a) != 1) continue;
        if (scale->instruction.op != Opcode::mul_add || scale->instruction.y != 0) continue;
        shift.instruction.x = scale->instruction.x;
        shift.a = scale->a;
        scale->result = -1;
    }
    std::erase_if(drafts, [](const Draft& draft) { return draft.result < 0; });
    return drafts;
}

// Gives out registers by last use. Nothing when they do not suffice.
std::optional<Program> allocate(const std::vector<Draft>& drafts, const std::vector<int>& results, int count,
                                bool anchored, int operands) {
    std::vector<size_t> last(static_cast<size_t>(count), 0);
    for (size_t i = 0; i < drafts.size(); ++i)
        for (int r : {drafts[i].a, drafts[i].b})
            if (r >= 0) last[static_cast<size_t>(r)] = i;
    for (int r : results) last[static_cast<size_t>(r)] = drafts.size();

    std::vector<int> real(static_cast<size_t>(count), -1);
    std::array<bool, Program::max_registers> busy{};
    Program program;
    program.operands = operands;
    if (anchored) {
        real[0] = 0;
        busy[0] = std::ranges::any_of(drafts, [](const Draft& d) { return d.a == 0 || d.b == 0; }) ||
                  std::ranges::find(results, 0) != results.end();
    }
    for (size_t i = 0; i < drafts.size(); ++i) {
        Instruction instruction = drafts[i].instruction;
        for (int r : {drafts[i].a, drafts[i].b})
            if (r >= 0 && last[static_cast<size_t>(r)] == i)
                busy[static_cast<size_t>(real[static_cast<size_t>(r)])] = false;
        const auto free = std::ranges::find(busy, false);
        if (free == busy.end()) return std::nullopt;
        *free = true;
        const auto dst = static_cast<int>(free - busy.begin());
        if (drafts[i].a >= 0) instruction.a = static_cast<uint8_t>(real[static_cast<size_t>(drafts[i].a)]);
        if (drafts[i].b >= 0) instruction.b = static_cast<uint8_t>(real[static_cast<size_t>(drafts[i].b)]);
        instruction.dst = static_cast<uint8_t>(dst);
        real[static_cast<size_t>(drafts[i].result)] = dst;
        program.registers = std::max(program.registers, dst + 1);
        program.code.push_back(instruction);
    }
    program.results.clear();
    for (int r : results) program.results.push_back(static_cast<uint8_t>(real[static_cast<size_t>(r)]));
    return program;
}

// The only node that is not pointwise; no_node when there is none.
std::optional<NodeId> find_anchor(const Graph& body, const std::vector<NodeId>& order, Verdict& why) {
    NodeId anchor = no_node;
    for (NodeId id : order) {
        const Verdict verdict = is_pointwise(body, body.node(id));
        if (verdict) continue;
        if (anchor != no_node) {
            why = verdict;
            return std::nullopt;
        }
        anchor = id;
    }
    return anchor;
}

}  // namespace

Verdict is_pointwise(const Graph& graph, const Node& node) {
    const bool unary = find(unary_ops, node.op) != nullptr;
    const bool gelu_contrib = node.op == "Gelu" && node.domain == "com.microsoft";
    if ((!unary && !find(binary_ops, node.op)) || (!node.domain.empty() && !gelu_contrib))
        return Verdict::no(Reason::operator_not_handled, node.op);
    if (node.outputs.size() != 1) return Verdict::no(Reason::attribute, "several outputs");
    if (node.op == "Clip" && !clip_bounds(graph, node)) return Verdict::no(Reason::needs_constant, "bounds of Clip");
    const size_t operands = node.op == "Clip" ? 1 : node.inputs.size();
    for (size_t i = 0; i < operands; ++i)
        if (node.inputs[i] == no_value || graph.value(node.inputs[i]).type != ElementType::f32)
            return Verdict::no(Reason::element_type, "not f32");
    if (graph.value(node.outputs[0]).type != ElementType::f32) return Verdict::no(Reason::element_type, "not f32");
    // Before opset 7, binary operators broadcast by attributes.
    if (node.version > 0 && node.version < 7) return Verdict::no(Reason::attribute, "opset below 7");
    return Verdict::yes();
}

PointwiseClass pointwise_class(const Node& node) {
    if (const Entry* entry = find(unary_ops, node.op)) return entry->kind;
    if (const Entry* entry = find(binary_ops, node.op)) return entry->kind;
    return PointwiseClass::activation;
}

std::optional<PointwiseBody> program_of(const Graph& body, Verdict* why) {
    Verdict ignored;
    Verdict& verdict = why ? *why : ignored;
    const std::vector<NodeId> order = body.topological_order();
    const std::optional<NodeId> anchor = find_anchor(body, order, verdict);
    if (!anchor) return std::nullopt;
    const Shape shape = body.value(body.outputs.at(0)).shape();
    Drafting drafting(body);
    if (*anchor != no_node) {
        const ValueId result = body.node(*anchor).outputs[0];
        const bool reads_results = std::ranges::any_of(body.node(*anchor).inputs, [&](ValueId input) {
            return input != no_value && body.value(input).producer != no_node;
        });
        if (reads_results || body.value(result).type != ElementType::f32 || body.value(result).shape() != shape) {
            verdict = Verdict::no(Reason::shape, "the anchor does not come first with the shape of the result");
            return std::nullopt;
        }
        drafting.set_anchor(result);
    }
    for (NodeId id : order) {
        if (id == *anchor) continue;
        if (body.value(body.node(id).outputs[0]).shape() != shape) {
            verdict = Verdict::no(Reason::shape, "an intermediate result has another shape than the result");
            return std::nullopt;
        }
        drafting.add(body.node(id));
    }
    std::vector<int> results;
    for (ValueId output : body.outputs) results.push_back(drafting.register_of(output));
    const std::vector<Draft> drafts = cleaned(drafting.drafts(), results, drafting.count());
    const auto operands = static_cast<int>(drafting.operands().size());
    std::optional<Program> program = allocate(drafts, results, drafting.count(), *anchor != no_node, operands);
    if (!program) {
        verdict = Verdict::no(Reason::limit, "more than " + std::to_string(Program::max_registers) + " live values");
        return std::nullopt;
    }
    return PointwiseBody{*anchor, std::move(*program), drafting.operands()};
}

Graph body_of(const Graph& graph, const std::vector<NodeId>& nodes, const std::vector<ValueId>& results,
              std::vector<ValueId>& inputs) {
    Graph body;
    std::map<ValueId, ValueId> copies;
    inputs.clear();
    const auto copy = [&](ValueId id) {
        const auto [at, fresh] = copies.try_emplace(id, no_value);
        if (fresh) {
            at->second = body.add_value(graph.value(id).name, graph.value(id).type);
            body.value(at->second).dims = graph.value(id).dims;
            body.value(at->second).constant = graph.value(id).constant;
        }
        return std::pair(at->second, fresh);
    };
    for (NodeId id : nodes) {
        Node node = graph.node(id);
        for (ValueId& input : node.inputs) {
            if (input == no_value) continue;
            const ValueId outer = input;
            const auto [inner, fresh] = copy(outer);
            if (fresh && !graph.is_constant(outer)) {
                body.inputs.push_back(inner);
                inputs.push_back(outer);
            }
            input = inner;
        }
        for (ValueId& output : node.outputs)
            if (output != no_value) output = copy(output).first;
        body.add_node(std::move(node));
    }
    for (ValueId result : results) body.outputs.push_back(copies.at(result));
    return body;
}

}  // namespace headway
