// Exact products of quantised tensors, quantised again while they are in registers.
#include "base/checked.h"
#include "kernels/cpu/integer/requantized_problem.h"

namespace headway {
namespace {

RequantizedProblem problem_of(const Problem& problem) {
    RequantizedProblem p;
    HEADWAY_CHECK(RequantizedProblem::make(problem, p));
    return p;
}

Work work_of(const IntegerIsa& isa, const Problem& problem) {
    const RequantizedProblem p = problem_of(problem);
    const auto bytes = static_cast<double>(problem.src[0]->bytes() + problem.dst[0].bytes() + p.g.oc * p.g.k());
    if (!p.is_depthwise()) return integer_work(isa, p.panels(), static_cast<double>(p.g.pixels() * p.g.group), bytes);
    return {.flops = conv_flops(p.g), .bytes = bytes, .efficiency = isa.isa == Isa::baseline ? 0.05 : 0.2};
}

Kernel::Fields fields_of(const IntegerIsa& isa) {
    Kernel::Fields fields;
    fields.name = "requantized.integer." + std::string(isa.name);
    fields.algorithm = "integer";
    fields.help = "Exact convolutions and products of quantised tensors, quantised again on the way out.";
    fields.ops = {"QLinearConv", "QLinearMatMul", "com.microsoft/QGemm"};
    fields.isa = isa.isa;
    // The quotient of the scales is rounded once: a value between two integers may fall on the other side.
    fields.numerics = Numerics::approximates;
    fields.knobs = {&integer_rows_knob};
    fields.supports = [&isa](const Problem& problem, const Target& target, const Choices&) {
        if (Verdict verdict = runs_on(isa, target); !verdict) return verdict;
        RequantizedProblem p;
        return RequantizedProblem::make(problem, p);
    };
    fields.work = [&isa](const Problem& problem, const Target&, const Choices&) { return work_of(isa, problem); };
    fields.pack = [&isa](const Problem& problem, const Target&, const Choices&,
                         std::span<const Tensor* const> constants) {
        const RequantizedProblem p = problem_of(problem);
        return p.is_depthwise() ? pack_requantized_depthwise(isa, p, constants) : pack_requantized(p, constants);
    };
    fields.prepare = [&isa](const Problem& problem, const Target&, const Choices& choices) {
        const RequantizedProblem p = problem_of(problem);
        const int64_t rows = choices.get(integer_rows_knob);
        return p.is_depthwise() ? prepare_requantized_depthwise(isa, p, rows) : prepare_requantized(isa, p, rows);
    };
    return fields;
}

const Kernel requantized_vnni{fields_of(integer_isas()[0])};
const Kernel requantized_avx2{fields_of(integer_isas()[1])};
const Kernel requantized_baseline{fields_of(integer_isas()[2])};

}  // namespace
}  // namespace headway
