#include "kernels/cpu/reduce/reduce.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/checked.h"
#include "kernels/cpu/pointwise/pointwise.h"
#include "kernels/cpu/pointwise/tile_program.h"
#include "kernels/cpu/reduce/reduce_plan.h"

namespace headway {
namespace {

const Knob<int64_t> reduce_piece_kb{{
    .name = "reduce.piece_kb",
    .help =
        "A reduction to few values is cut into pieces of this many KiB that threads reduce apart and that are joined "
        "in a fixed order.",
    .family = "kernel",
    .values = {64, 16, 256, 4096},
    .numerics = Numerics::reorders,
    .scope = Scope::site,
    .witness = "global_pool",
}};

const Knob<int64_t> reduce_tile_kb{{
    .name = "reduce.tile_kb",
    .help = "Input of a reduction that is one unit of scheduling, in KiB. Less spreads small feature maps over more "
            "threads, more saves hand-overs on large ones.",
    .family = "kernel",
    .values = {64, 16, 256},
    .scope = Scope::site,
    .witness = "global_pool",
}};

const Knob<int64_t> reduce_pieces_below{{
    .name = "reduce.pieces_below",
    .help = "A reduction is cut into pieces (reduce.piece_kb) when it has fewer units of scheduling than this: more "
            "where there are many threads, 1 where joining the pieces costs more than it saves.",
    .family = "kernel",
    .values = {8, 1, 4, 32},
    .numerics = Numerics::reorders,
    .scope = Scope::site,
    .witness = "global_pool",
}};

const Knob<int64_t> reduce_short_run{{
    .name = "reduce.short_run",
    .help = "Longest run of floats that is reduced side by side with its neighbours. Entering the loops for longer "
            "runs costs as much as 16 floats on wide vectors; narrow ones pay from less on.",
    .family = "kernel",
    .values = {16, 0, 4, 32, 64},
    .numerics = Numerics::reorders,
    .scope = Scope::site,
    .witness = "reduce_short",
}};

const Knob<int64_t> reduce_columns{{
    .name = "reduce.columns",
    .help = "Columns that stay beside a reduced axis and are one unit of scheduling: their sums have to stay in the "
            "first-level cache while the rows pass by. Fewer suit long columns on many threads, more suit few rows.",
    .family = "kernel",
    .values = {4096, 512, 1024, 16384},
    .numerics = Numerics::reorders,
    .scope = Scope::site,
    .witness = "reduce_rows",
}};

constexpr int64_t finish_floats = 4096;  // outputs that one tile of the second phase finishes

class ReducePrepared final : public Prepared {
public:
    ReducePrepared(const Problem& problem, const Choices& choices, ReduceCode code) : ops_(code.reduce()) {
        HEADWAY_CHECK(ReducePlan::make(problem, plan_));
        if (!problem.epilogue.empty())
            program_.emplace(problem.epilogue, problem.dst[0], problem.operands, inner_dims(problem), code.tiles());
        run_chunk_ = plan_.run_is_kept ? std::min(plan_.run, choices.get(reduce_columns)) : 1;
        run_chunks_ = plan_.run_is_kept ? ceil_div(plan_.run, std::max<int64_t>(run_chunk_, 1)) : 1;
        const int64_t reduced = plan_.reduced_rows() * (plan_.run_is_kept ? plan_.rows.extent * run_chunk_ : plan_.run);
        const auto floats = [](int64_t kb) { return kb * 1024 / static_cast<int64_t>(sizeof(float)); };
        rows_per_tile_ = std::max<int64_t>(1, floats(choices.get(reduce_tile_kb)) / std::max<int64_t>(reduced, 1));
        split_ = plan_.run_is_kept ? plan_.rows.extent : plan_.run;
        piece_ = split_;
        const int64_t unit = plan_.run_is_kept ? run_chunk_ : 1;
        const int64_t wanted = std::max<int64_t>(64, floats(choices.get(reduce_piece_kb)) / unit);
        if (row_groups() * run_chunks_ < choices.get(reduce_pieces_below) && plan_.reduced.empty() && wanted < split_)
            piece_ = wanted;
        pieces_ = ceil_div(split_, std::max<int64_t>(piece_, 1));
        const bool dense = plan_.kept.empty() || (plan_.kept.size() == 1 && plan_.kept[0].stride == plan_.run);
        short_runs_ =
            !plan_.run_is_kept && plan_.reduced.empty() && plan_.run <= choices.get(reduce_short_run) && dense;
    }

    // The second phase joins pieces and runs the epilogue.
    int phases() const override { return pieces_ > 1 || program_ ? 2 : 1; }
    int64_t tiles(int phase) const override {
        if (plan_.outputs == 0) return 0;
        if (phase == 0) return row_groups() * run_chunks_ * pieces_;
        return ceil_div(finish_rows(), finish_rows_per_tile());
    }
    int64_t workspace_bytes() const override {
        return pieces_ > 1 ? pieces_ * plan_.outputs * static_cast<int64_t>(sizeof(float)) : 0;
    }

    void run(const Args& args, int phase, int64_t begin, int64_t end) const override {
        for (int64_t tile = begin; tile < end; ++tile) {
            if (phase == 0)
                reduce_tile(args, tile);
            else
                finish_tile(args, tile);
        }
    }

private:
    static int inner_dims(const Problem& problem) {
        for (int inner = static_cast<int>(problem.dst[0].shape.rank()); inner > 1; --inner)
            if (TileProgram::supports(problem.epilogue, problem.dst[0], problem.operands, inner)) return inner;
        return 1;
    }
    int64_t row_groups() const { return ceil_div(plan_.kept_rows(), rows_per_tile_); }
    int64_t finish_cols() const { return program_ ? program_->cols() : 1; }
    int64_t finish_rows() const { return plan_.outputs / std::max<int64_t>(finish_cols(), 1); }
    int64_t finish_rows_per_tile() const { return std::max<int64_t>(1, finish_floats / finish_cols()); }

    static int64_t offset(const std::vector<ReducePlan::Dim>& dims, int64_t index) {
        int64_t offset = 0;
        for (size_t i = dims.size(); i-- > 0;) {
            offset += index % dims[i].extent * dims[i].stride;
            index /= dims[i].extent;
        }
        return offset;
    }

    void finish(float* values, int64_t count) const {
        const auto scale = static_cast<float>(plan_.scale);
        if (scale != 1)
            for (int64_t i = 0; i < count; ++i) values[i] *= scale;
        if (plan_.square_root)
            for (int64_t i = 0; i < count; ++i) values[i] = std::sqrt(values[i]);
    }

    void reduce_tile(const Args& args, int64_t tile) const {
        const auto* src = reinterpret_cast<const float*>(args.src[0]);
        const int64_t piece = tile % pieces_;
        const int64_t chunk = tile / pieces_ % run_chunks_;
        const int64_t group = tile / pieces_ / run_chunks_;
        float* out = reinterpret_cast<float*>(pieces_ > 1 ? args.workspace : args.dst[0]) +
                     (pieces_ > 1 ? piece * plan_.outputs : 0);
        const int64_t last = std::min(plan_.kept_rows(), (group + 1) * rows_per_tile_);
        if (short_runs_) {
            const int64_t first = group * rows_per_tile_;
            ops_.short_runs[static_cast<int>(plan_.kind)](src + first * plan_.run, plan_.run, last - first,
                                                          out + first);
            return finish(out + first, last - first);
        }
        for (int64_t row = group * rows_per_tile_; row < last; ++row) {
            const float* from = src + offset(plan_.kept, row);
            float* to = plan_.run_is_kept ? out + row * plan_.run + chunk * run_chunk_ : out + row;
            const int64_t count = plan_.run_is_kept ? std::min(run_chunk_, plan_.run - chunk * run_chunk_) : 1;
            reduce_row(from + chunk * run_chunk_, to, piece, count);
            if (pieces_ == 1) finish(to, count);
        }
    }

    void reduce_row(const float* from, float* to, int64_t piece, int64_t count) const {
        const auto kind = static_cast<int>(plan_.kind);
        const int64_t first = piece * piece_;
        const int64_t length = std::min(piece_, split_ - first);
        const int64_t times = plan_.reduced_rows();
        for (int64_t i = 0; i < times; ++i) {
            const float* part = from + offset(plan_.reduced, i);
            if (plan_.run_is_kept) {
                ops_.columns[kind](part + first * plan_.rows.stride, plan_.rows.stride, length, count, to, i == 0);
                continue;
            }
            const float value = ops_.run[kind](part + first, length);
            if (i == 0)
                *to = value;
            else
                ops_.columns[static_cast<int>(joining_kind())](&value, 1, 1, 1, to, false);
        }
    }

    // Reduced values are joined as what they are: sums of squares are summed.
    ReduceKind joining_kind() const {
        return plan_.kind == ReduceKind::max || plan_.kind == ReduceKind::min ? plan_.kind : ReduceKind::sum;
    }

    void finish_tile(const Args& args, int64_t tile) const {
        const int64_t row = tile * finish_rows_per_tile();
        const int64_t rows = std::min(finish_rows_per_tile(), finish_rows() - row);
        const int64_t first = row * finish_cols();
        const int64_t count = rows * finish_cols();
        auto* dst = reinterpret_cast<float*>(args.dst[0]);
        if (pieces_ > 1) {
            const auto* parts = reinterpret_cast<const float*>(args.workspace);
            ops_.columns[static_cast<int>(joining_kind())](parts + first, plan_.outputs, pieces_, count, dst + first,
                                                           true);
            finish(dst + first, count);
        }
        if (program_) program_->apply(args.operands, dst + first, finish_cols(), row, rows, 0, finish_cols(), &dst);
    }

    const ReduceOps& ops_;
    ReducePlan plan_;
    std::optional<TileProgram> program_;
    int64_t run_chunk_ = 1, run_chunks_ = 1;  // of kept columns
    int64_t rows_per_tile_ = 1;               // kept rows
    int64_t split_ = 1;                       // extent of the innermost reduced dimension
    int64_t piece_ = 1, pieces_ = 1;          // of it
    bool short_runs_ = false;                 // neighbouring runs are reduced side by side
};

Verdict supports(const Problem& problem) {
    if (problem.src.empty() || !problem.src[0] || problem.constant[0] || problem.dst.size() != 1)
        return Verdict::no(Reason::shape, "needs one input and one output");
    for (const TensorDesc* desc : {&*problem.src[0], &problem.dst[0]}) {
        if (desc->type != ElementType::f32)
            return Verdict::no(Reason::element_type, std::string(to_string(desc->type)));
        if (desc->layout != Layout::plain && desc->shape.rank() < 3)
            return Verdict::no(Reason::layout, "rank below 3 with channels apart");
    }
    ReducePlan plan;
    if (Verdict verdict = ReducePlan::make(problem, plan); !verdict) return verdict;
    if (problem.epilogue.empty()) return Verdict::yes();
    if (problem.epilogue.results.size() != 1) return Verdict::no(Reason::epilogue, "several results");
    return TileProgram::supports(problem.epilogue, problem.dst[0], problem.operands, 1);
}

Work work(const Problem& problem) {
    Work work;
    work.bytes = static_cast<double>(problem.src[0]->bytes() + problem.dst[0].bytes());
    work.flops = static_cast<double>(problem.src[0]->physical_elements()) +
                 program_flops(problem.epilogue) * static_cast<double>(problem.dst[0].physical_elements());
    work.efficiency = 0.2;
    return work;
}

}  // namespace

Kernel::Fields reduce_fields(const std::string& isa_word, Isa isa, ReduceCode code) {
    return {
        .name = "reduce.vector." + isa_word,
        .algorithm = "vector",
        .help = "Reductions over any axes: vectors along the columns that stay, or along the run that goes.",
        .ops = {"ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceL1", "ReduceL2", "ReduceSumSquare",
                "GlobalAveragePool", "GlobalMaxPool"},
        .isa = isa,
        .numerics = Numerics::reorders,
        .knobs = {&reduce_piece_kb, &reduce_pieces_below, &reduce_tile_kb, &reduce_short_run, &reduce_columns},
        .supports = [](const Problem& problem, const Target&, const Choices&) { return supports(problem); },
        .work = [](const Problem& problem, const Target&, const Choices&) { return work(problem); },
        .prepare = [code](const Problem& problem, const Target&, const Choices& choices) -> std::unique_ptr<Prepared> {
            return std::make_unique<ReducePrepared>(problem, choices, code);
        },
    };
}

namespace {

const Kernel reduce_baseline{reduce_fields("baseline", Isa::baseline, {baseline::reduce_ops, baseline::tile_ops})};
const Kernel reduce_avx2{reduce_fields("avx2", Isa::avx2, {avx2::reduce_ops, avx2::tile_ops})};
const Kernel reduce_avx512{reduce_fields("avx512", Isa::avx512, {avx512::reduce_ops, avx512::tile_ops})};

}  // namespace
}  // namespace headway
