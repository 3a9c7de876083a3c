#include "kernels/cpu/resize/resize.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "base/checked.h"
#include "kernels/cpu/pointwise/pointwise.h"
#include "kernels/cpu/pointwise/tile_program.h"
#include "kernels/cpu/resize/resize_axis_table.h"

namespace headway {
namespace {

const Knob<int64_t> resize_tile_kb{{
    .name = "resize.tile_kb",
    .help = "Output rows of a Resize that are one unit of scheduling, in KiB: rows that repeat the one before are "
            "copied only inside a unit, so large units suit large scales, small ones many threads.",
    .family = "kernel",
    .values = {64, 16, 256},
    .scope = Scope::site,
    .witness = "resize",
}};

// A tensor is planes of rows of pixels of `channels` consecutive floats: 1 for plain, all of them for nhwc, 8 or 16 for
// blocked layouts.
class ResizePrepared final : public Prepared {
public:
    ResizePrepared(const Problem& problem, const Choices& choices, ResizeCode code) : ops_(code.resize()) {
        HEADWAY_CHECK(ResizeRules::make(problem, rules_));
        const TensorDesc& src = *problem.src[0];
        const size_t last = src.shape.rank() - 1;
        channels_ = src.layout == Layout::plain  ? 1
                    : src.layout == Layout::nhwc ? src.shape[1]
                                                 : channel_block(src.layout);
        in_rows_ = last == 3 ? src.shape[2] : 1;
        in_cols_ = src.shape[last];
        out_rows_ = last == 3 ? problem.dst[0].shape[2] : 1;
        out_cols_ = problem.dst[0].shape[last];
        planes_ = channels_ == 0 ? 0 : src.physical_elements() / (in_rows_ * in_cols_ * channels_);
        if (!problem.epilogue.empty())
            program_.emplace(problem.epilogue, problem.dst[0], problem.operands, 1, code.tiles());
        const int64_t row = std::max<int64_t>(1, out_cols_ * channels_);
        const int64_t floats = choices.get(resize_tile_kb) * 1024 / static_cast<int64_t>(sizeof(float));
        rows_per_tile_ = std::clamp<int64_t>(floats / row, 1, std::max<int64_t>(1, out_rows_));
        row_tiles_ = ceil_div(out_rows_, rows_per_tile_);
    }

    int64_t tiles(int) const override { return out_cols_ == 0 ? 0 : planes_ * row_tiles_; }
    int64_t scratch_bytes() const override {
        return rules_.linear ? in_cols_ * channels_ * static_cast<int64_t>(sizeof(float)) : 0;
    }

    void run(const Args& args, int, int64_t begin, int64_t end) const override {
        auto* dst = reinterpret_cast<float*>(args.dst[0]);
        const int64_t row_floats = out_cols_ * channels_;
        for (int64_t tile = begin; tile < end; ++tile) {
            const int64_t plane = tile / row_tiles_;
            const int64_t first = tile % row_tiles_ * rows_per_tile_;
            const int64_t last = std::min(out_rows_, first + rows_per_tile_);
            const auto* src = reinterpret_cast<const float*>(args.src[0]) + plane * in_rows_ * in_cols_ * channels_;
            float* to = dst + (plane * out_rows_ + first) * row_floats;
            for (int64_t y = first; y < last; ++y, to += row_floats) {
                const bool again = y > first && rules_.y.same(y, y - 1);
                if (again)
                    std::memcpy(to, to - row_floats, static_cast<size_t>(row_floats) * sizeof(float));
                else if (rules_.linear)
                    linear_row(src, y, reinterpret_cast<float*>(args.scratch), to);
                else
                    nearest_row(src + rules_.y.left[static_cast<size_t>(y)] * in_cols_ * channels_, to);
            }
            finish_rows(args, plane * out_rows_ + first, last - first, dst);
        }
    }

private:
    void nearest_row(const float* from, float* to) const {
        if (channels_ == 1 && rules_.x.times > 0) return ops_.repeat(from, rules_.x.times, out_cols_, to);
        if (channels_ == 1) return ops_.pick(from, rules_.x.left.data(), out_cols_, to);
        for (int64_t x = 0; x < out_cols_; ++x, to += channels_)
            std::memcpy(to, from + rules_.x.left[static_cast<size_t>(x)] * channels_,
                        static_cast<size_t>(channels_) * sizeof(float));
    }

    // The two rows blended first, then columns of the blended row.
    void linear_row(const float* src, int64_t y, float* row, float* to) const {
        const int64_t row_floats = in_cols_ * channels_;
        const auto at = static_cast<size_t>(y);
        const float* from = src + rules_.y.left[at] * row_floats;
        if (rules_.y.weight[at] != 0) {
            ops_.blend(from, src + rules_.y.right[at] * row_floats, rules_.y.weight[at], row_floats, row);
            from = row;
        }
        const ResizeTable& x = rules_.x;
        if (channels_ == 1)
            return ops_.blend_picked(from, x.left.data(), x.right.data(), x.weight.data(), out_cols_, to);
        for (size_t i = 0; i < static_cast<size_t>(out_cols_); ++i, to += channels_)
            ops_.blend(from + x.left[i] * channels_, from + x.right[i] * channels_, x.weight[i], channels_, to);
    }

    // Rows of the program are rows of the image for plain tensors and pixels for the others.
    void finish_rows(const Args& args, int64_t row, int64_t rows, float* dst) const {
        if (!program_) return;
        const int64_t cols = program_->cols();
        const int64_t each = out_cols_ * channels_ / cols;
        program_->apply(args.operands, dst + row * each * cols, cols, row * each, rows * each, 0, cols, &dst);
    }

    const ResizeOps& ops_;
    ResizeRules rules_;
    std::optional<TileProgram> program_;
    int64_t channels_ = 1, planes_ = 0;
    int64_t in_rows_ = 1, in_cols_ = 1, out_rows_ = 1, out_cols_ = 1;
    int64_t rows_per_tile_ = 1, row_tiles_ = 0;
};

Verdict supports(const Problem& problem) {
    if (problem.src.empty() || !problem.src[0] || problem.constant[0] || problem.dst.size() != 1)
        return Verdict::no(Reason::shape, "needs one input and one output");
    const TensorDesc& src = *problem.src[0];
    if (src.type != ElementType::f32) return Verdict::no(Reason::element_type, std::string(to_string(src.type)));
    if (src.layout != problem.dst[0].layout) return Verdict::no(Reason::layout, "input and output differ");
    ResizeRules rules;
    if (Verdict verdict = ResizeRules::make(problem, rules); !verdict) return verdict;
    if (problem.epilogue.empty()) return Verdict::yes();
    if (problem.epilogue.results.size() != 1) return Verdict::no(Reason::epilogue, "several results");
    return TileProgram::supports(problem.epilogue, problem.dst[0], problem.operands, 1);
}

Work work(const Problem& problem) {
    const auto outputs = static_cast<double>(problem.dst[0].physical_elements());
    const bool linear = problem.attributes.text("mode", "nearest") == "linear";
    // Picking single floats is not vector code.
    const double each = problem.src[0]->layout == Layout::plain ? (linear ? 12 : 4) : (linear ? 6 : 1);
    return {.flops = outputs * (each + program_flops(problem.epilogue)),
            .bytes = static_cast<double>(problem.src[0]->bytes() + problem.dst[0].bytes()),
            .efficiency = 0.1};
}

}  // namespace

Kernel::Fields resize_fields(const std::string& isa_word, Isa isa, ResizeCode code) {
    return {
        .name = "resize.vector." + isa_word,
        .algorithm = "vector",
        .help = "Nearest and linear resizing: rows first, then pixels, by tables of positions and weights.",
        .ops = {"Resize", "Upsample"},
        .isa = isa,
        .numerics = Numerics::reorders,
        .knobs = {&resize_tile_kb},
        .supports = [](const Problem& problem, const Target&, const Choices&) { return supports(problem); },
        .work = [](const Problem& problem, const Target&, const Choices&) { return work(problem); },
        .prepare = [code](const Problem& problem, const Target&, const Choices& choices) -> std::unique_ptr<Prepared> {
            return std::make_unique<ResizePrepared>(problem, choices, code);
        },
    };
}

namespace {

const Kernel resize_baseline{resize_fields("baseline", Isa::baseline, {baseline::resize_ops, baseline::tile_ops})};
const Kernel resize_avx2{resize_fields("avx2", Isa::avx2, {avx2::resize_ops, avx2::tile_ops})};
const Kernel resize_avx512{resize_fields("avx512", Isa::avx512, {avx512::resize_ops, avx512::tile_ops})};

}  // namespace
}  // namespace headway
