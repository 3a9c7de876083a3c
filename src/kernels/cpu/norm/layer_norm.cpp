#include <algorithm>

#include "base/checked.h"
#include "kernels/cpu/norm/norm.h"

namespace headway {
namespace {

const Knob<std::string_view> layer_norm_moments{{
    .name = "layer_norm.moments",
    .help =
        "two_pass: the mean, then the variance around it. one_pass: both from deviations from the first element, which "
        "reads each row once less.",
    .family = "kernel",
    .values = {"two_pass", "one_pass"},
    .numerics = Numerics::reorders,
    .scope = Scope::site,
    .witness = "layer_norm",
}};

const Knob<int64_t> layer_norm_tile_kb{{
    .name = "layer_norm.tile_kb",
    .help = "Rows of a LayerNormalization that are one unit of scheduling, in KiB. Less spreads short sequences over "
            "more threads, more saves hand-overs where sequences are long.",
    .family = "kernel",
    .values = {64, 16, 256},
    .scope = Scope::site,
    .witness = "layer_norm",
}};

int64_t first_axis(const Problem& problem) {
    const int64_t axis = problem.attributes.integer("axis", -1);
    return axis < 0 ? axis + static_cast<int64_t>(problem.src[0]->shape.rank()) : axis;
}

// Scale and shift come packed when they are constant.
class LayerNormPrepared final : public Prepared {
public:
    LayerNormPrepared(const Problem& problem, const Choices& choices, const NormOps& ops)
        : form_(choices.get(layer_norm_moments) == "one_pass" ? MomentsForm::one_pass : MomentsForm::two_pass),
          ops_(ops),
          epsilon_(problem.attributes.real("epsilon", 1e-5F)) {
        const Shape& shape = problem.src[0]->shape;
        const auto axis = static_cast<size_t>(first_axis(problem));
        rows_ = shape.elements(0, axis);
        cols_ = shape.elements(axis, shape.rank());
        const int64_t floats = choices.get(layer_norm_tile_kb) * 1024 / static_cast<int64_t>(sizeof(float));
        rows_per_tile_ = std::max<int64_t>(1, floats / std::max<int64_t>(cols_, 1));
        int packed = 0;
        for (size_t i = 1; i < problem.src.size(); ++i)
            if (problem.src[i]) packed_[i] = problem.constant[i] ? packed++ : from_src;
    }

    int64_t tiles(int) const override { return cols_ == 0 ? 0 : ceil_div(rows_, rows_per_tile_); }

    void run(const Args& args, int, int64_t begin, int64_t end) const override {
        const auto* src = reinterpret_cast<const float*>(args.src[0]);
        auto* dst = reinterpret_cast<float*>(args.dst[0]);
        const float* scale = parameter(args, 1);
        const float* shift = parameter(args, 2);
        const int64_t last = std::min(rows_, end * rows_per_tile_);
        for (int64_t row = begin * rows_per_tile_; row < last; ++row)
            ops_.layer_norm_row[static_cast<int>(form_)](src + row * cols_, scale, shift, dst + row * cols_, cols_,
                                                         epsilon_);
    }

private:
    static constexpr int absent = -2, from_src = -1;

    const float* parameter(const Args& args, size_t index) const {
        if (packed_[index] == absent) return nullptr;
        return reinterpret_cast<const float*>(packed_[index] == from_src ? args.src[index]
                                                                         : args.packed[packed_[index]]);
    }

    const MomentsForm form_;
    const NormOps& ops_;
    const float epsilon_;
    int64_t rows_ = 0, cols_ = 0, rows_per_tile_ = 1;
    int packed_[3] = {absent, absent, absent};
};

Verdict supports(const Problem& problem) {
    if (!problem.epilogue.empty()) return Verdict::no(Reason::epilogue, "takes none");
    if (problem.src.size() < 2 || problem.src.size() > 3 || !problem.src[0] || !problem.src[1] || problem.constant[0])
        return Verdict::no(Reason::shape, "inputs");
    if (problem.dst.size() != 1) return Verdict::no(Reason::shape, "mean or deviation as an output");
    if (problem.attributes.integer("stash_type", 1) != 1) return Verdict::no(Reason::attribute, "stash_type");
    const Shape& shape = problem.src[0]->shape;
    const int64_t axis = first_axis(problem);
    if (axis < 0 || axis >= static_cast<int64_t>(shape.rank())) return Verdict::no(Reason::attribute, "axis");
    const int64_t cols = shape.elements(static_cast<size_t>(axis), shape.rank());
    if (problem.dst[0].shape != shape) return Verdict::no(Reason::shape, "the output has another shape");
    for (size_t i = 0; i < problem.src.size(); ++i) {
        if (!problem.src[i]) continue;
        if (problem.src[i]->type != ElementType::f32)
            return Verdict::no(Reason::element_type, std::string(to_string(problem.src[i]->type)));
        if (problem.src[i]->layout != Layout::plain || problem.dst[0].layout != Layout::plain)
            return Verdict::no(Reason::layout, "needs plain tensors");
        if (i > 0 && problem.src[i]->shape.elements() != cols)
            return Verdict::no(Reason::shape, "scale or bias that is broadcast");
    }
    return Verdict::yes();
}

Work work(const Problem& problem) {
    const auto elements = static_cast<double>(problem.dst[0].physical_elements());
    return {.flops = 8 * elements, .bytes = 2 * sizeof(float) * elements, .efficiency = 0.2};
}

}  // namespace

Kernel::Fields layer_norm_fields(const std::string& isa_word, Isa isa, const NormOps& (*ops)()) {
    return {
        .name = "layer_norm.vector." + isa_word,
        .algorithm = "vector",
        .help = "Normalization of whole rows while they are in the first-level cache.",
        .ops = {"LayerNormalization"},
        .isa = isa,
        .numerics = Numerics::reorders,
        .knobs = {&layer_norm_moments, &layer_norm_tile_kb},
        .supports = [](const Problem& problem, const Target&, const Choices&) { return supports(problem); },
        .work = [](const Problem& problem, const Target&, const Choices&) { return work(problem); },
        .pack =
            [](const Problem& problem, const Target&, const Choices&, std::span<const Tensor* const> constants) {
                std::vector<Tensor> blobs;
                for (size_t i = 1; i < problem.src.size(); ++i)
                    if (problem.src[i] && problem.constant[i]) blobs.push_back(*constants[i]);
                return blobs;
            },
        .prepare = [ops](const Problem& problem, const Target&, const Choices& choices) -> std::unique_ptr<Prepared> {
            return std::make_unique<LayerNormPrepared>(problem, choices, ops());
        },
        .in_place = true,
    };
}

namespace {

const Kernel layer_norm_baseline{layer_norm_fields("baseline", Isa::baseline, baseline::norm_ops)};
const Kernel layer_norm_avx2{layer_norm_fields("avx2", Isa::avx2, avx2::norm_ops)};
const Kernel layer_norm_avx512{layer_norm_fields("avx512", Isa::avx512, avx512::norm_ops)};

}  // namespace
}  // namespace headway
