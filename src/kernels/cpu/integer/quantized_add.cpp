#include "kernels/cpu/integer/quantized_add.h"

#include <algorithm>

#include "base/checked.h"
#include "kernels/cpu/integer/linear_quantize.h"

namespace headway {
namespace {

// A, its scale and zero point, B, its, and those of the output.
enum Input : size_t { a_input, a_scale, a_zero, b_input, b_scale, b_zero, y_scale, y_zero, inputs };

bool has_input(const Problem& problem, size_t i) { return i < problem.src.size() && problem.src[i].has_value(); }

Verdict check(const Problem& problem) {
    if (!problem.epilogue.empty()) return Verdict::no(Reason::epilogue, "takes none");
    for (size_t i : {a_input, a_scale, b_input, b_scale, y_scale})
        if (!has_input(problem, i)) return Verdict::no(Reason::shape, "an absent input");
    const TensorDesc& y = problem.dst[0];
    if (y.type != ElementType::u8 && y.type != ElementType::i8)
        return Verdict::no(Reason::element_type, "not 8-bit integers");
    for (size_t i : {a_input, b_input}) {
        if (problem.constant[i]) return Verdict::no(Reason::shape, "an operand is a constant");
        if (problem.src[i]->shape != y.shape) return Verdict::no(Reason::shape, "an operand is broadcast");
        if (problem.src[i]->layout != y.layout)
            return Verdict::no(Reason::layout, "operands and output in two layouts");
    }
    // Blocked channels whose padding must stay zero.
    if (y.physical_elements() != y.shape.elements())
        return Verdict::no(Reason::layout, "padding channels would not stay zero");
    for (size_t i = 0; i < problem.src.size(); ++i) {
        if (i == a_input || i == b_input || !has_input(problem, i)) continue;
        if (!problem.constant[i]) return Verdict::no(Reason::needs_constant, "input " + std::to_string(i));
        if (problem.src[i]->shape.elements() != 1) return Verdict::no(Reason::shape, "several scales");
    }
    return Verdict::yes();
}

class QuantizedAdd final : public Prepared {
public:
    QuantizedAdd(const QuantizeOps& ops, const Problem& problem, const Choices& choices)
        : add_(problem.dst[0].type == ElementType::u8 ? ops.add_u8 : ops.add_i8),
          count_(problem.dst[0].shape.elements()),
          each_(choices.get(quantize_tile_knob) * 1024) {}

    int64_t tiles(int) const override { return ceil_div(count_, each_); }

    void run(const Args& args, int, int64_t begin, int64_t end) const override {
        const auto& sum = *reinterpret_cast<const QuantizedSum*>(args.packed[0]);
        const int64_t first = begin * each_, last = std::min(count_, end * each_);
        if (first >= last) return;
        add_(reinterpret_cast<const uint8_t*>(args.src[a_input]) + first,
             reinterpret_cast<const uint8_t*>(args.src[b_input]) + first, last - first, sum,
             reinterpret_cast<uint8_t*>(args.dst[0]) + first);
    }

private:
    decltype(QuantizeOps::add_u8) add_;
    int64_t count_, each_;
};

std::vector<Tensor> pack(const Problem& problem, std::span<const Tensor* const> constants) {
    const auto number = [&](size_t i) { return has_input(problem, i) ? constants[i]->at(0) : 0; };
    const double a = number(a_scale) / number(y_scale), b = number(b_scale) / number(y_scale);
    const QuantizedSum sum{static_cast<float>(a), static_cast<float>(b),
                           static_cast<float>(-(number(a_zero) * a + number(b_zero) * b)),
                           static_cast<float>(number(y_zero)), problem.dst[0].type == ElementType::u8 ? 0.0F : -128.0F};
    static_assert(sizeof sum == 5 * sizeof(float));
    std::vector<Tensor> blobs;
    blobs.push_back(Tensor::of<float>({5}, std::span(&sum.a_scale, 5)));
    return blobs;
}

}  // namespace

Kernel::Fields quantized_add_fields(const std::string& isa_word, Isa isa, const QuantizeOps& ops) {
    Kernel::Fields fields;
    fields.name = "quantized_add.vector." + isa_word;
    fields.algorithm = "vector";
    fields.help = "The sum of two 8-bit tensors of one shape, quantised again.";
    fields.ops = {"com.microsoft/QLinearAdd"};
    fields.isa = isa;
    // The quotients of the scales are rounded: a value between two integers may fall on the other side.
    fields.numerics = Numerics::approximates;
    fields.knobs = {&quantize_tile_knob};
    fields.supports = [](const Problem& problem, const Target&, const Choices&) { return check(problem); };
    fields.work = [](const Problem& problem, const Target&, const Choices&) {
        const auto bytes = static_cast<double>(3 * problem.dst[0].bytes());
        return Work{.flops = 2 * bytes, .bytes = bytes, .efficiency = 0.2};
    };
    fields.pack = [](const Problem& problem, const Target&, const Choices&, std::span<const Tensor* const> constants) {
        return pack(problem, constants);
    };
    fields.prepare = [&ops](const Problem& problem, const Target&, const Choices& choices) {
        return std::make_unique<QuantizedAdd>(ops, problem, choices);
    };
    return fields;
}

namespace {

const Kernel quantized_add_baseline{quantized_add_fields("baseline", Isa::baseline, baseline::quantize_ops)};
const Kernel quantized_add_avx2{quantized_add_fields("avx2", Isa::avx2, avx2::quantize_ops)};
const Kernel quantized_add_avx512{quantized_add_fields("avx512", Isa::avx512, avx512::quantize_ops)};

}  // namespace
}  // namespace headway
