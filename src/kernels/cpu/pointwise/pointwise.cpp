#include "kernels/cpu/pointwise/pointwise.h"

#include <algorithm>
#include <array>

#include "base/checked.h"
#include "kernels/cpu/pointwise/tile_program.h"

namespace headway {
namespace {

const Knob<int64_t> pointwise_tile{{
    .name = "pointwise.tile",
    .help = "Elements that one pass of the interpreter covers. Large tiles cost less dispatch, small ones keep more "
            "intermediate values in the first-level cache.",
    .family = "kernel",
    .values = {1024, 256, 512, 2048},
    .numerics = Numerics::exact,
    .scope = Scope::site,
    .witness = "pointwise_chain",
}};

const Knob<std::string_view> pointwise_exp{{
    .name = "pointwise.exp",
    .help = "How exp, sigmoid, silu and tanh are computed in pointwise steps: a polynomial of degree 6 (about 1 ulp), "
            "of degree 4 (relative error 3e-6), or the C library for each element.",
    .family = "kernel",
    .values = {"poly6", "poly4", "libm"},
    .numerics = Numerics::approximates,
    .scope = Scope::site,
    .witness = "pointwise_chain",
}};

const Knob<int64_t> pointwise_task_us{{
    .name = "pointwise.task_us",
    .help =
        "Work of a unit of scheduling of a pointwise step, in microseconds. Less spreads the small tensors of audio "
        "and text models over threads, more saves hand-overs where tensors are large and threads few.",
    .family = "kernel",
    .values = {20, 5, 10, 40, 100},
    .scope = Scope::site,
    .witness = "pointwise_chain",
}};

// Figures of the interpreter in the second-level cache.
constexpr double ns_per_stream = 0.1;  // an operand or result, for each element
constexpr double ns_per_flop = 0.04;

ExpKind exp_kind(std::string_view word) {
    return word == "poly4" ? ExpKind::poly4 : word == "libm" ? ExpKind::libm : ExpKind::poly6;
}

// The most extents that can be the columns: few long rows cost less than many short ones.
int widest_inner_dims(const Problem& problem) {
    const TensorDesc& dst = problem.dst[0];
    for (int inner = static_cast<int>(dst.shape.rank()); inner > 1; --inner)
        if (TileProgram::supports(problem.epilogue, dst, problem.operands, inner)) return inner;
    return 1;
}

class PointwisePrepared final : public Prepared {
public:
    PointwisePrepared(const Problem& problem, const TileOps& ops, const TileOptions& options, int64_t task_us)
        : program_(problem.epilogue, problem.dst[0], problem.operands, widest_inner_dims(problem), ops, options),
          results_(problem.dst.size()) {
        const double streams = static_cast<double>(problem.operands.size() + problem.dst.size());
        const double element_ns = ns_per_stream * streams + ns_per_flop * program_flops(problem.epilogue);
        const auto elements = static_cast<int64_t>(static_cast<double>(task_us) * 1000 / element_ns);
        tile_cols_ = std::max<int64_t>(1, std::min(program_.cols(), round_up(elements, 64)));
        tile_rows_ = std::max<int64_t>(1, elements / tile_cols_);
        col_tiles_ = ceil_div(program_.cols(), tile_cols_);
    }

    int64_t tiles(int) const override { return ceil_div(program_.rows(), tile_rows_) * col_tiles_; }

    void run(const Args& args, int, int64_t begin, int64_t end) const override {
        std::array<float*, Program::max_registers> dst{};
        for (size_t i = 0; i < results_; ++i) dst[i] = reinterpret_cast<float*>(args.dst[i]);
        for (int64_t tile = begin; tile < end; ++tile) {
            const int64_t row = tile / col_tiles_ * tile_rows_;
            const int64_t col = tile % col_tiles_ * tile_cols_;
            program_.apply(args.operands, nullptr, 0, row, std::min(tile_rows_, program_.rows() - row), col,
                           std::min(tile_cols_, program_.cols() - col), dst.data());
        }
    }

private:
    TileProgram program_;
    size_t results_;
    int64_t tile_rows_ = 1, tile_cols_ = 1, col_tiles_ = 1;
};

// Register 0 has no value before it is written: there is no anchor.
bool reads_anchor(const Program& program) {
    bool written = false;
    for (const Instruction& instruction : program.code) {
        const int reads = arity(instruction.op);
        if (!written && ((reads >= 1 && instruction.a == 0) || (reads == 2 && instruction.b == 0))) return true;
        written = written || instruction.dst == 0;
    }
    return !written && std::find(program.results.begin(), program.results.end(), 0) != program.results.end();
}

Verdict supports(const Problem& problem) {
    if (problem.dst.empty() || problem.dst.size() != problem.epilogue.results.size())
        return Verdict::no(Reason::epilogue, std::to_string(problem.epilogue.results.size()) + " results for " +
                                                 std::to_string(problem.dst.size()) + " outputs");
    for (const TensorDesc& dst : problem.dst)
        if (dst != problem.dst[0]) return Verdict::no(Reason::shape, "outputs differ in shape or layout");
    if (reads_anchor(problem.epilogue))
        return Verdict::no(Reason::epilogue, "register 0 is read, but there is no anchor");
    return TileProgram::supports(problem.epilogue, problem.dst[0], problem.operands, 1);
}

Work work(const Problem& problem) {
    Work work;
    const auto elements = static_cast<double>(problem.dst[0].physical_elements());
    work.flops = elements * program_flops(problem.epilogue);
    for (const TensorDesc& operand : problem.operands) work.bytes += static_cast<double>(operand.bytes());
    work.bytes += elements * sizeof(float) * static_cast<double>(problem.dst.size());
    work.efficiency = 0.25;
    return work;
}

}  // namespace

double program_flops(const Program& program) {
    double flops = 0;
    for (const Instruction& instruction : program.code) {
        switch (instruction.op) {
            case Opcode::load:
            case Opcode::imm:
                break;
            case Opcode::div:
            case Opcode::sqrt:
            case Opcode::reciprocal:
                flops += 8;
                break;
            case Opcode::exp:
            case Opcode::elu:
                flops += 20;
                break;
            case Opcode::sigmoid:
            case Opcode::silu:
            case Opcode::log:
            case Opcode::softplus:
                flops += 32;
                break;
            case Opcode::tanh:
            case Opcode::erf:
            case Opcode::gelu:
            case Opcode::gelu_tanh:
                flops += 48;
                break;
            case Opcode::sin:
            case Opcode::cos:
                flops += 200;
                break;
            case Opcode::pow:
            case Opcode::pow_imm:
                flops += instruction.op == Opcode::pow_imm && instruction.x == 2 ? 1 : 300;
                break;
            case Opcode::hard_swish:
            case Opcode::hard_sigmoid:
                flops += 4;
                break;
            case Opcode::clip:
            case Opcode::mul_add:
                flops += 2;
                break;
            default:
                flops += 1;
        }
    }
    return flops;
}

Kernel::Fields pointwise_fields(const std::string& isa_word, Isa isa, const TileOps& (*ops)()) {
    return {
        .name = "pointwise.tiles." + isa_word,
        .algorithm = "tiles",
        .help = "A step program over whole tensors, interpreted in blocks that stay in the first-level cache.",
        .ops = {"Pointwise"},
        .isa = isa,
        .numerics = Numerics::approximates,
        .knobs = {&pointwise_tile, &pointwise_exp, &pointwise_task_us},
        .supports = [](const Problem& problem, const Target&, const Choices&) { return supports(problem); },
        .work = [](const Problem& problem, const Target&, const Choices&) { return work(problem); },
        .prepare = [ops](const Problem& problem, const Target&, const Choices& choices) -> std::unique_ptr<Prepared> {
            const TileOptions options{choices.get(pointwise_tile), exp_kind(choices.get(pointwise_exp))};
            return std::make_unique<PointwisePrepared>(problem, ops(), options, choices.get(pointwise_task_us));
        },
        .in_place = true,
    };
}

namespace {

const Kernel pointwise_baseline{pointwise_fields("baseline", Isa::baseline, baseline::tile_ops)};
const Kernel pointwise_avx2{pointwise_fields("avx2", Isa::avx2, avx2::tile_ops)};
const Kernel pointwise_avx512{pointwise_fields("avx512", Isa::avx512, avx512::tile_ops)};

}  // namespace
}  // namespace headway
