#include "kernels/cpu/pool/pool.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "base/checked.h"
#include "kernels/cpu/pointwise/pointwise.h"
#include "kernels/cpu/pointwise/tile_program.h"
#include "kernels/cpu/pool/pool_window.h"

namespace headway {
namespace {

const Knob<int64_t> pool_tile_kb{{
    .name = "pool.tile_kb",
    .help = "Input rows of a pooling that are one unit of scheduling, in KiB. Less balances the small maps late in a "
            "network over many threads, more keeps rows that windows share on one thread.",
    .family = "kernel",
    .values = {64, 16, 256},
    .scope = Scope::site,
    .witness = "pool_layouts",
}};

// A tensor is planes of rows of pixels of `channels` consecutive floats: 1 for plain, all of them for nhwc, 8 or 16 for
// blocked layouts. With one channel a vector goes along the row, else across the channels of a pixel.
class PoolPrepared final : public Prepared {
public:
    PoolPrepared(const Problem& problem, const Choices& choices, PoolCode code)
        : reduce_(code.reduce()), pool_(code.pool()) {
        HEADWAY_CHECK(PoolWindow::make(problem, window_));
        const TensorDesc& src = *problem.src[0];
        channels_ = src.layout == Layout::plain  ? 1
                    : src.layout == Layout::nhwc ? src.shape[1]
                                                 : channel_block(src.layout);
        const int64_t pixels = src.shape.elements(2, src.shape.rank());
        planes_ = pixels * channels_ == 0 ? 0 : src.physical_elements() / (pixels * channels_);
        if (!problem.epilogue.empty())
            program_.emplace(problem.epilogue, problem.dst[0], problem.operands, 1, code.tiles());
        const int64_t row_cost =
            window_.x.in * channels_ * std::max<int64_t>(1, std::min(window_.y.kernel, window_.y.stride));
        const int64_t floats = choices.get(pool_tile_kb) * 1024 / static_cast<int64_t>(sizeof(float));
        rows_per_tile_ =
            std::clamp<int64_t>(floats / std::max<int64_t>(row_cost, 1), 1, std::max<int64_t>(window_.y.out, 1));
        row_tiles_ = ceil_div(window_.y.out, rows_per_tile_);
        if (channels_ == 1)
            set_row_tables();
        else
            set_stretches();
    }

    int64_t tiles(int) const override { return window_.x.out == 0 ? 0 : planes_ * row_tiles_; }
    int64_t scratch_bytes() const override { return row_floats_ * static_cast<int64_t>(sizeof(float)); }

    void run(const Args& args, int, int64_t begin, int64_t end) const override {
        for (int64_t tile = begin; tile < end; ++tile) {
            const int64_t plane = tile / row_tiles_;
            const int64_t first = tile % row_tiles_ * rows_per_tile_;
            const int64_t last = std::min(window_.y.out, first + rows_per_tile_);
            const auto* src =
                reinterpret_cast<const float*>(args.src[0]) + plane * window_.y.in * window_.x.in * channels_;
            auto* dst = reinterpret_cast<float*>(args.dst[0]);
            for (int64_t y = first; y < last; ++y) {
                const int64_t row = plane * window_.y.out + y;
                float* to = dst + row * window_.x.out * channels_;
                if (channels_ == 1)
                    plain_row(src, y, reinterpret_cast<float*>(args.scratch), to);
                else
                    channel_row(src, y, to);
                finish_row(args, row, to, dst);
            }
        }
    }

private:
    int kind() const { return static_cast<int>(window_.average ? ReduceKind::sum : ReduceKind::max); }
    int64_t divisor(const PoolAxis::Taps& y, const PoolAxis::Taps& x) const {
        return window_.count_pad ? y.padded * x.padded : y.count * x.count;
    }

    // Output pixels of a row whose windows have the same taps, one stride apart.
    struct Stretch {
        int64_t begin = 0, pixels = 0;
        PoolAxis::Taps taps;  // of the first
    };

    void set_stretches() {
        for (int64_t x = 0; x < window_.x.out; ++x) {
            const PoolAxis::Taps taps = window_.x.taps(x);
            Stretch* last = stretches_.empty() ? nullptr : &stretches_.back();
            const bool alike = last != nullptr && last->taps.count == taps.count && last->taps.padded == taps.padded &&
                               last->taps.first + last->pixels * window_.x.stride == taps.first;
            if (alike)
                ++last->pixels;
            else
                stretches_.push_back({x, 1, taps});
        }
    }

    void set_row_tables() {
        row_floats_ =
            window_.x.out == 0
                ? 0
                : std::max(window_.x.in + window_.x.pad_begin,
                           (window_.x.out - 1) * window_.x.stride + (window_.x.kernel - 1) * window_.x.dilation + 1);
        for (int64_t x = 0; x < window_.x.out; ++x) {
            const PoolAxis::Taps taps = window_.x.taps(x);
            column_scale_.push_back(1 / static_cast<float>(window_.count_pad ? taps.padded : taps.count));
        }
    }

    // Rows of the window joined into one row with neutral ends, then columns by a sliding window over it.
    void plain_row(const float* src, int64_t y, float* row, float* to) const {
        const PoolAxis& x = window_.x;
        const PoolAxis::Taps taps = window_.y.taps(y);
        const float neutral = window_.average ? 0 : -std::numeric_limits<float>::infinity();
        std::fill_n(row, x.pad_begin, neutral);
        reduce_.columns[kind()](src + taps.first * x.in, window_.y.dilation * x.in, taps.count, x.in, row + x.pad_begin,
                                true);
        std::fill(row + x.pad_begin + x.in, row + row_floats_, neutral);
        (window_.average ? pool_.slide_sum : pool_.slide_max)(row, x.kernel, x.dilation, x.stride, x.out, to);
        if (!window_.average) return;
        const float scale = 1 / static_cast<float>(window_.count_pad ? taps.padded : taps.count);
        for (int64_t i = 0; i < x.out; ++i) to[i] *= scale * column_scale_[static_cast<size_t>(i)];
    }

    // Neighbouring pixels whose windows are cut alike go together.
    void channel_row(const float* src, int64_t y, float* to) const {
        const PoolAxis::Taps rows = window_.y.taps(y);
        for (const Stretch& stretch : stretches_) {
            const float* first = src + (rows.first * window_.x.in + stretch.taps.first) * channels_;
            const PoolSpan span{.src = first,
                                .src_step = window_.x.stride * channels_,
                                .rows = rows.count,
                                .row_step = window_.y.dilation * window_.x.in * channels_,
                                .cols = stretch.taps.count,
                                .col_step = window_.x.dilation * channels_,
                                .pixels = stretch.pixels,
                                .channels = channels_,
                                .scale = 1 / static_cast<float>(divisor(rows, stretch.taps)),
                                .dst = to + stretch.begin * channels_};
            (window_.average ? pool_.span_sum : pool_.span_max)(span);
        }
    }

    // Rows of the program are rows of the image for plain tensors and pixels for the others.
    void finish_row(const Args& args, int64_t row, float* to, float* dst) const {
        if (!program_) return;
        const int64_t cols = program_->cols();
        const int64_t rows = window_.x.out * channels_ / cols;
        program_->apply(args.operands, to, cols, row * rows, rows, 0, cols, &dst);
    }

    const ReduceOps& reduce_;
    const PoolOps& pool_;
    PoolWindow window_;
    std::optional<TileProgram> program_;
    int64_t channels_ = 1, planes_ = 0;
    int64_t rows_per_tile_ = 1, row_tiles_ = 0;
    int64_t row_floats_ = 0;
    std::vector<float> column_scale_;
    std::vector<Stretch> stretches_;
};

Verdict supports(const Problem& problem) {
    if (problem.src.size() != 1 || !problem.src[0] || problem.constant[0])
        return Verdict::no(Reason::shape, "needs one input");
    if (problem.dst.size() != 1) return Verdict::no(Reason::shape, "indices as an output");
    const TensorDesc& src = *problem.src[0];
    if (src.type != ElementType::f32) return Verdict::no(Reason::element_type, std::string(to_string(src.type)));
    if (src.layout != problem.dst[0].layout) return Verdict::no(Reason::layout, "input and output differ");
    PoolWindow window;
    if (Verdict verdict = PoolWindow::make(problem, window); !verdict) return verdict;
    if (problem.epilogue.empty()) return Verdict::yes();
    if (problem.epilogue.results.size() != 1) return Verdict::no(Reason::epilogue, "several results");
    return TileProgram::supports(problem.epilogue, problem.dst[0], problem.operands, 1);
}

Work work(const Problem& problem) {
    PoolWindow window;
    if (!PoolWindow::make(problem, window)) return {};
    const TensorDesc& src = *problem.src[0];
    const auto outputs = static_cast<double>(problem.dst[0].physical_elements());
    const bool plain = src.layout == Layout::plain;
    const auto taps = static_cast<double>(plain ? window.y.kernel * window.x.stride + window.x.kernel
                                                : window.y.kernel * window.x.kernel);
    // Sliding over a row with a stride is not vector code.
    const double slow = plain && window.x.stride > 1 ? 4 : 1;
    return {.flops = outputs * (taps * slow + program_flops(problem.epilogue)),
            .bytes = static_cast<double>(src.bytes() + problem.dst[0].bytes()),
            .efficiency = 0.1};
}

}  // namespace

Kernel::Fields pool_fields(const std::string& isa_word, Isa isa, PoolCode code) {
    return {
        .name = "pool.vector." + isa_word,
        .algorithm = "vector",
        .help = "Windows joined across the channels of a pixel, or, in plain images, rows first and then columns.",
        .ops = {"MaxPool", "AveragePool"},
        .isa = isa,
        .numerics = Numerics::reorders,
        .knobs = {&pool_tile_kb},
        .supports = [](const Problem& problem, const Target&, const Choices&) { return supports(problem); },
        .work = [](const Problem& problem, const Target&, const Choices&) { return work(problem); },
        .prepare = [code](const Problem& problem, const Target&, const Choices& choices) -> std::unique_ptr<Prepared> {
            return std::make_unique<PoolPrepared>(problem, choices, code);
        },
    };
}

namespace {

const Kernel pool_baseline{
    pool_fields("baseline", Isa::baseline, {baseline::reduce_ops, baseline::pool_ops, baseline::tile_ops})};
const Kernel pool_avx2{pool_fields("avx2", Isa::avx2, {avx2::reduce_ops, avx2::pool_ops, avx2::tile_ops})};
const Kernel pool_avx512{pool_fields("avx512", Isa::avx512, {avx512::reduce_ops, avx512::pool_ops, avx512::tile_ops})};

}  // namespace
}  // namespace headway
