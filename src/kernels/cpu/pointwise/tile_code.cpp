#include "kernels/cpu/pointwise/tile_code.h"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <set>

#include "base/error.h"

namespace headway {
namespace {

// A value of the program in single-assignment form.
struct Node {
    enum class Kind { anchor, operand, constant, operation } kind = Kind::operation;
    MicroOp op = MicroOp::copy;
    Post post = Post::none;
    int args[3] = {-1, -1, -1};
    float x = 0, y = 0;  // constants of op or post; a constant's value is x
    int operand = 0;
    int uses = 0;
    bool result = false;
};

std::optional<Post> as_post(MicroOp op) {
    switch (op) {
        case MicroOp::relu:
            return Post::relu;
        case MicroOp::clip:
            return Post::clip;
        case MicroOp::leaky_relu:
            return Post::leaky_relu;
        case MicroOp::hard_sigmoid:
            return Post::hard_sigmoid;
        case MicroOp::hard_swish:
            return Post::hard_swish;
        default:
            return std::nullopt;
    }
}

bool takes_post(MicroOp op) {
    return op == MicroOp::add || op == MicroOp::sub || op == MicroOp::mul || op == MicroOp::fma;
}

MicroOp micro_op(Opcode op) {
    switch (op) {
        case Opcode::add:
            return MicroOp::add;
        case Opcode::sub:
            return MicroOp::sub;
        case Opcode::mul:
            return MicroOp::mul;
        case Opcode::div:
            return MicroOp::div;
        case Opcode::max:
            return MicroOp::max;
        case Opcode::min:
            return MicroOp::min;
        case Opcode::pow:
            return MicroOp::pow;
        case Opcode::neg:
            return MicroOp::neg;
        case Opcode::abs:
            return MicroOp::abs;
        case Opcode::sqrt:
            return MicroOp::sqrt;
        case Opcode::reciprocal:
            return MicroOp::reciprocal;
        case Opcode::exp:
            return MicroOp::exp;
        case Opcode::log:
            return MicroOp::log;
        case Opcode::erf:
            return MicroOp::erf;
        case Opcode::tanh:
            return MicroOp::tanh;
        case Opcode::sigmoid:
            return MicroOp::sigmoid;
        case Opcode::relu:
            return MicroOp::relu;
        case Opcode::floor:
            return MicroOp::floor;
        case Opcode::ceil:
            return MicroOp::ceil;
        case Opcode::round:
            return MicroOp::round;
        case Opcode::sin:
            return MicroOp::sin;
        case Opcode::cos:
            return MicroOp::cos;
        case Opcode::softplus:
            return MicroOp::softplus;
        case Opcode::gelu:
            return MicroOp::gelu;
        case Opcode::gelu_tanh:
            return MicroOp::gelu_tanh;
        case Opcode::clip:
            return MicroOp::clip;
        case Opcode::leaky_relu:
            return MicroOp::leaky_relu;
        case Opcode::hard_sigmoid:
            return MicroOp::hard_sigmoid;
        case Opcode::hard_swish:
            return MicroOp::hard_swish;
        case Opcode::silu:
            return MicroOp::silu;
        case Opcode::elu:
            return MicroOp::elu;
        case Opcode::bf16_round:
            return MicroOp::bf16_round;
        case Opcode::load:
        case Opcode::imm:
        case Opcode::mul_add:
        case Opcode::pow_imm:
            break;
    }
    throw InternalError("no micro-operation for " + std::string(to_string(op)));
}

class Translator {
public:
    Translator(const Program& program, const std::vector<bool>& scalar, const TileOps& ops, ExpKind exp)
        : scalar_(scalar), ops_(ops), exp_(exp) {
        code_.operand_used.assign(scalar.size(), false);
        registers_.fill(-1);
        registers_[0] = add({.kind = Node::Kind::anchor});
        for (const Instruction& instruction : program.code) registers_[instruction.dst] = translate(instruction);
        for (uint8_t result : program.results) results_.push_back(registers_[result]);
    }

    TileCode finish() {
        count_uses();
        fuse_multiply_add();
        fuse_post_functions();
        count_uses();
        number_constants();
        emit();
        return std::move(code_);
    }

private:
    Node& node(int id) { return nodes_[static_cast<size_t>(id)]; }
    const Node& node(int id) const { return nodes_[static_cast<size_t>(id)]; }

    int add(Node node) {
        nodes_.push_back(node);
        return static_cast<int>(nodes_.size()) - 1;
    }
    int add_constant(float value) { return add({.kind = Node::Kind::constant, .x = value}); }
    int add_operation(MicroOp op, int a, int b = -1, int c = -1) { return add({.op = op, .args = {a, b, c}}); }

    int translate(const Instruction& in) {
        const int a = arity(in.op) >= 1 ? registers_[in.a] : -1;
        const int b = arity(in.op) == 2 ? registers_[in.b] : -1;
        if (in.op == Opcode::load) return operand(in.a);
        if (in.op == Opcode::imm) return add_constant(in.x);
        if (in.op == Opcode::mul_add) return add_operation(MicroOp::fma, a, add_constant(in.x), add_constant(in.y));
        if (in.op == Opcode::pow_imm) return power(a, in.x);
        if (in.op == Opcode::pow && node(b).kind == Node::Kind::constant) return power(a, node(b).x);
        return add({.op = micro_op(in.op), .args = {a, b, -1}, .x = in.x, .y = in.y});
    }

    int operand(int k) {
        for (size_t id = 0; id < nodes_.size(); ++id)
            if (nodes_[id].kind == Node::Kind::operand && nodes_[id].operand == k) return static_cast<int>(id);
        return add({.kind = Node::Kind::operand, .operand = k});
    }

    // The powers that models use are products and roots.
    int power(int a, float exponent) {
        if (exponent == 1) return a;
        if (exponent == 2) return add_operation(MicroOp::mul, a, a);
        if (exponent == 3) return add_operation(MicroOp::mul, add_operation(MicroOp::mul, a, a), a);
        if (exponent == 0.5F) return add_operation(MicroOp::sqrt, a);
        if (exponent == -1) return add_operation(MicroOp::reciprocal, a);
        if (exponent == -0.5F) return add_operation(MicroOp::reciprocal, add_operation(MicroOp::sqrt, a));
        return add_operation(MicroOp::pow, a, add_constant(exponent));
    }

    bool is_scalar(int id) const {
        const Node& value = node(id);
        return value.kind == Node::Kind::constant ||
               (value.kind == Node::Kind::operand && scalar_[static_cast<size_t>(value.operand)]);
    }
    bool is_external(int id) const {
        return node(id).kind == Node::Kind::anchor || node(id).kind == Node::Kind::operand;
    }
    bool is_operation(int id) const { return node(id).kind == Node::Kind::operation; }

    void count_uses() {
        for (Node& value : nodes_) value.uses = 0;
        for (int id : results_) {
            node(id).result = true;
            ++node(id).uses;
        }
        for (size_t id = nodes_.size(); id-- > 0;)
            if (nodes_[id].uses > 0)
                for (int arg : nodes_[id].args)
                    if (arg >= 0) ++node(arg).uses;
    }

    bool sole_use(int id) const { return is_operation(id) && node(id).uses == 1 && !node(id).result; }

    void fuse_multiply_add() {
        for (Node& sum : nodes_) {
            if (sum.kind != Node::Kind::operation || sum.op != MicroOp::add || sum.uses == 0) continue;
            for (int side = 0; side < 2; ++side) {
                const int product = sum.args[side];
                if (!sole_use(product) || node(product).op != MicroOp::mul) continue;
                const Node& factors = node(product);
                const int addend = sum.args[1 - side];
                sum.op = MicroOp::fma;
                std::copy(std::begin(factors.args), std::end(factors.args), std::begin(sum.args));
                sum.args[2] = addend;
                break;
            }
        }
        count_uses();
    }

    void fuse_post_functions() {
        for (Node& value : nodes_) {
            if (value.kind != Node::Kind::operation || value.uses == 0) continue;
            const std::optional<Post> post = as_post(value.op);
            if (!post || !sole_use(value.args[0])) continue;
            const Node& producer = node(value.args[0]);
            if (!takes_post(producer.op) || producer.post != Post::none) continue;
            const Node old = value;
            value = producer;
            value.post = *post;
            value.x = old.x;
            value.y = old.y;
            value.uses = old.uses;
            value.result = old.result;
        }
    }

    void number_constants() {
        for (size_t id = 0; id < nodes_.size(); ++id) {
            if (nodes_[id].kind != Node::Kind::constant || nodes_[id].uses == 0) continue;
            const auto same = [&](float value) {
                return std::bit_cast<uint32_t>(value) == std::bit_cast<uint32_t>(nodes_[id].x);
            };
            const auto at = std::find_if(code_.constants.begin(), code_.constants.end(), same);
            nodes_[id].operand = static_cast<int>(at - code_.constants.begin());
            if (at == code_.constants.end()) code_.constants.push_back(nodes_[id].x);
        }
    }

    void emit() {
        places_.assign(nodes_.size(), -1);
        left_.resize(nodes_.size());
        for (size_t id = 0; id < nodes_.size(); ++id) left_[id] = nodes_[id].uses;
        for (size_t id = 0; id < nodes_.size(); ++id)
            if (nodes_[id].kind == Node::Kind::operation && nodes_[id].uses > 0) emit_operation(static_cast<int>(id));
        for (int id : results_) emit_result(id);
        mark_direct();
    }

    // Place of an input; remembers which externals are read and when last.
    int place(int id) {
        const Node& value = node(id);
        if (is_external(id)) last_external_read_ = code_.steps.size();
        switch (value.kind) {
            case Node::Kind::anchor:
                code_.anchor_used = true;
                return TileCode::anchor_place;
            case Node::Kind::operand:
                code_.operand_used[static_cast<size_t>(value.operand)] = true;
                return code_.operand_place(value.operand);
            case Node::Kind::constant:
                return code_.constant_place(value.operand);
            case Node::Kind::operation:
                break;
        }
        return places_[static_cast<size_t>(id)];
    }

    int take_slot() {
        if (free_.empty()) return code_.slot_place(code_.slots++);
        const int slot = free_.back();
        free_.pop_back();
        return slot;
    }

    void append(TileFunction function, int dst, std::array<int, 3> sources, float x, float y) {
        HEADWAY_CHECK(function != nullptr);
        const auto narrow = [](int place) { return static_cast<uint16_t>(std::max(place, 0)); };
        code_.steps.push_back(
            {function, narrow(dst), narrow(sources[0]), narrow(sources[1]), narrow(sources[2]), x, y});
    }

    // A scalar spread over a slot of its own, for the rare pass that has no form for it.
    int spread(int id) {
        const int slot = take_slot();
        const int source = place(id);
        append(ops_.find(MicroOp::copy, Form::sv, Post::none, exp_), slot, {source, -1, -1}, 0, 0);
        spread_.push_back(slot);
        return slot;
    }

    void emit_operation(int id) {
        Node value = node(id);
        spread_.clear();
        std::array<int, 3> sources{-1, -1, -1};
        const Form form = choose_form(value, sources);
        for (size_t i = 0; i < 3; ++i)
            if (value.args[i] >= 0 && sources[i] < 0) sources[i] = place(value.args[i]);
        for (int arg : value.args)
            if (arg >= 0 && is_operation(arg) && --left_[static_cast<size_t>(arg)] == 0)
                free_.push_back(places_[static_cast<size_t>(arg)]);
        // A result keeps a slot that nothing else uses: at run time its place may be the dst.
        const int dst = value.result ? code_.slot_place(code_.slots++) : take_slot();
        places_[static_cast<size_t>(id)] = dst;
        append(ops_.find(value.op, form, value.post, exp_), dst, sources, value.x, value.y);
        free_.insert(free_.end(), spread_.begin(), spread_.end());
    }

    // Reorders the arguments of commutative operations so that a scalar comes last; spreads scalars without a form.
    Form choose_form(Node& value, std::array<int, 3>& sources) {
        const auto scalar = [&](int i) { return value.args[i] >= 0 && is_scalar(value.args[i]); };
        const bool product = value.op == MicroOp::fma;
        const bool commutes = product || value.op == MicroOp::add || value.op == MicroOp::mul ||
                              value.op == MicroOp::max || value.op == MicroOp::min;
        if (commutes && scalar(0) && !scalar(1)) std::swap(value.args[0], value.args[1]);
        if (product) {
            if (scalar(0)) sources[0] = spread(value.args[0]);
            const bool c = scalar(2);
            return scalar(1) ? (c ? Form::ss : Form::sv) : (c ? Form::vs : Form::vv);
        }
        if (value.args[1] < 0) {
            if (scalar(0)) sources[0] = spread(value.args[0]);
            return Form::vv;
        }
        if (scalar(0) && scalar(1))
            sources[0] = spread(value.args[0]);
        else if (scalar(0))
            return Form::sv;
        return scalar(1) ? Form::vs : Form::vv;
    }

    void emit_result(int id) {
        const bool fresh = is_operation(id) && written_.count(id) == 0;
        if (!fresh) {
            const Form form = is_scalar(id) ? Form::sv : Form::vv;
            const int source = place(id);
            const int slot = code_.slot_place(code_.slots++);
            append(ops_.find(MicroOp::copy, form, Post::none, exp_), slot, {source, -1, -1}, 0, 0);
            code_.results.push_back({static_cast<uint16_t>(slot), false});
            return;
        }
        written_.insert(id);
        code_.results.push_back({static_cast<uint16_t>(places_[static_cast<size_t>(id)]), false});
    }

    // A result may be written to the dst itself when no later pass reads memory that the dst may be.
    void mark_direct() {
        for (TileCode::Result& result : code_.results) {
            size_t written = 0;
            for (size_t i = 0; i < code_.steps.size(); ++i)
                if (code_.steps[i].dst == result.place) written = i;
            result.direct = written >= last_external_read_;
        }
    }

    const std::vector<bool>& scalar_;
    const TileOps& ops_;
    const ExpKind exp_;
    TileCode code_;
    std::vector<Node> nodes_;
    std::array<int, Program::max_registers> registers_{};
    std::vector<int> results_;
    std::vector<int> places_;  // of operations
    std::vector<int> left_;    // uses not yet emitted
    std::vector<int> free_;    // slots
    std::vector<int> spread_;  // slots that die with the current operation
    std::set<int> written_;    // results that already have their place
    size_t last_external_read_ = 0;
};

}  // namespace

TileCode make_tile_code(const Program& program, const std::vector<bool>& scalar, const TileOps& ops, ExpKind exp) {
    return Translator(program, scalar, ops, exp).finish();
}

}  // namespace headway
