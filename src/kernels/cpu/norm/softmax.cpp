#include <algorithm>

#include "base/checked.h"
#include "kernels/cpu/layout/physical.h"
#include "kernels/cpu/norm/norm.h"

namespace headway {
namespace {

const Knob<std::string_view> softmax_form{{
    .name = "softmax.form",
    .help = "stored: exponentials are computed once and kept until their sum is known. online: maximum and sum in one "
            "pass, exponentials again in a second one. Only where the axis is innermost in memory.",
    .family = "kernel",
    .values = {"stored", "online"},
    .numerics = Numerics::reorders,
    .scope = Scope::site,
    .witness = "softmax",
}};

const Knob<int64_t> softmax_tile_kb{{
    .name = "softmax.tile_kb",
    .help = "Rows of a softmax that are one unit of scheduling, in KiB: 32 are about 10 us of exponentials. Less "
            "spreads the few heads of a short sequence over many threads, more suits long sequences on few threads.",
    .family = "kernel",
    .values = {32, 8, 128, 512},
    .scope = Scope::site,
    .witness = "softmax",
}};

const Knob<int64_t> softmax_columns{{
    .name = "softmax.columns",
    .help = "Columns of a softmax over an outer axis (class maps of segmenters) that are one unit of scheduling: many "
            "read whole pages of each row, few keep all rows in the first-level cache when there are many classes.",
    .family = "kernel",
    .values = {256, 64, 1024},
    .scope = Scope::site,
    .witness = "softmax_columns",
}};

const Knob<std::string_view> softmax_exp{{
    .name = "softmax.exp",
    .help = "The polynomial of softmax's exponentials: of degree 6 (about 1 ulp) or of degree 4 (relative error 3e-6), "
            "for long sequences, where softmax takes as long as the products around it.",
    .family = "kernel",
    .values = {"poly6", "poly4"},
    .numerics = Numerics::approximates,
    .scope = Scope::site,
    .witness = "softmax",
}};

// The tensor as rows of the axis: outer x axis x inner floats.
struct View {
    int64_t outer = 1, axis = 1, inner = 1;
};

Verdict view_of(const Problem& problem, View& view) {
    const TensorDesc& src = *problem.src[0];
    const auto rank = static_cast<int64_t>(src.shape.rank());
    const bool flattens = problem.version < 13;  // the axis and all after it count as one
    int64_t axis = problem.attributes.integer("axis", flattens ? 1 : -1);
    if (axis < 0) axis += rank;
    if (axis < 0 || axis >= std::max<int64_t>(rank, 1))
        return Verdict::no(Reason::attribute, "axis " + std::to_string(axis));
    if (channel_block(src.layout) > 1) return Verdict::no(Reason::layout, "blocked channels");
    view = {};
    bool after = false;
    for (const PhysicalDim& dim : physical_dims(src)) {
        const auto at = static_cast<int64_t>(dim.axis);
        const bool taken = at == axis || (flattens && at > axis);
        if (!taken && flattens && after && dim.extent != 1)
            return Verdict::no(Reason::layout, "flattened axes that lie apart");
        if (taken && after && view.inner != 1) return Verdict::no(Reason::layout, "flattened axes that lie apart");
        after = after || taken;
        (taken ? view.axis : after ? view.inner : view.outer) *= dim.extent;
    }
    return Verdict::yes();
}

class SoftmaxPrepared final : public Prepared {
public:
    SoftmaxPrepared(const Problem& problem, const Choices& choices, const NormOps& ops)
        : ops_(ops.softmax[static_cast<int>(choices.get(softmax_exp) == "poly4" ? ExpDegree::four : ExpDegree::six)]),
          row_(ops_.row[static_cast<int>(choices.get(softmax_form) == "online" ? SoftmaxForm::online
                                                                               : SoftmaxForm::stored)]),
          logarithm_(problem.op == "LogSoftmax") {
        HEADWAY_CHECK(view_of(problem, view_));
        cols_ = std::max<int64_t>(1, std::min(view_.inner, choices.get(softmax_columns)));
        chunks_ = ceil_div(view_.inner, cols_);
        const int64_t floats = choices.get(softmax_tile_kb) * 1024 / static_cast<int64_t>(sizeof(float));
        rows_ = view_.inner == 1 ? std::max<int64_t>(1, floats / std::max<int64_t>(view_.axis, 1)) : 1;
    }

    int64_t tiles(int) const override {
        return view_.axis == 0 || view_.inner == 0 ? 0 : ceil_div(view_.outer, rows_) * chunks_;
    }

    void run(const Args& args, int, int64_t begin, int64_t end) const override {
        const auto* src = reinterpret_cast<const float*>(args.src[0]);
        auto* dst = reinterpret_cast<float*>(args.dst[0]);
        for (int64_t tile = begin; tile < end; ++tile) {
            const int64_t first = tile / chunks_ * rows_;
            const int64_t last = std::min(view_.outer, first + rows_);
            const int64_t col = tile % chunks_ * cols_;
            for (int64_t row = first; row < last; ++row) {
                const int64_t at = row * view_.axis * view_.inner + col;
                if (view_.inner == 1)
                    row_(src + at, dst + at, view_.axis, logarithm_);
                else
                    ops_.columns(src + at, dst + at, view_.axis, view_.inner, std::min(cols_, view_.inner - col),
                                 logarithm_);
            }
        }
    }

private:
    const SoftmaxOps& ops_;
    const SoftmaxOps::Row row_;
    const bool logarithm_;
    View view_;
    int64_t rows_ = 1, cols_ = 1, chunks_ = 1;
};

Verdict supports(const Problem& problem) {
    if (!problem.epilogue.empty()) return Verdict::no(Reason::epilogue, "takes none");
    if (problem.src.size() != 1 || !problem.src[0] || problem.constant[0] || problem.dst.size() != 1)
        return Verdict::no(Reason::shape, "needs one input and one output");
    if (problem.src[0]->type != ElementType::f32)
        return Verdict::no(Reason::element_type, std::string(to_string(problem.src[0]->type)));
    if (*problem.src[0] != problem.dst[0]) return Verdict::no(Reason::layout, "input and output differ");
    if (problem.src[0]->layout != Layout::plain && problem.src[0]->shape.rank() < 3)
        return Verdict::no(Reason::layout, "rank below 3 with channels apart");
    View view;
    return view_of(problem, view);
}

Work work(const Problem& problem) {
    const auto elements = static_cast<double>(problem.dst[0].physical_elements());
    return {.flops = 28 * elements, .bytes = 3 * sizeof(float) * elements, .efficiency = 0.3};
}

}  // namespace

Kernel::Fields softmax_fields(const std::string& isa_word, Isa isa, const NormOps& (*ops)()) {
    return {
        .name = "softmax.vector." + isa_word,
        .algorithm = "vector",
        .help = "Softmax along the innermost axis in memory, or along another with vectors across it.",
        .ops = {"Softmax", "LogSoftmax"},
        .isa = isa,
        .numerics = Numerics::approximates,
        .knobs = {&softmax_form, &softmax_exp, &softmax_tile_kb, &softmax_columns},
        .supports = [](const Problem& problem, const Target&, const Choices&) { return supports(problem); },
        .work = [](const Problem& problem, const Target&, const Choices&) { return work(problem); },
        .prepare = [ops](const Problem& problem, const Target&, const Choices& choices) -> std::unique_ptr<Prepared> {
            return std::make_unique<SoftmaxPrepared>(problem, choices, ops());
        },
        .in_place = true,
    };
}

namespace {

const Kernel softmax_baseline{softmax_fields("baseline", Isa::baseline, baseline::norm_ops)};
const Kernel softmax_avx2{softmax_fields("avx2", Isa::avx2, avx2::norm_ops)};
const Kernel softmax_avx512{softmax_fields("avx512", Isa::avx512, avx512::norm_ops)};

}  // namespace
}  // namespace headway
