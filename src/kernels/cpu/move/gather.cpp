// Gather: whole runs picked by indices that are read when the step runs.
#include <algorithm>
#include <cstring>

#include "base/checked.h"
#include "base/error.h"
#include "kernels/kernel.h"

namespace headway {
namespace {

const Knob<int64_t> gather_tile_kb{{
    .name = "gather.tile_kb",
    .help =
        "Rows of a Gather that are one unit of scheduling, in KiB. Less spreads the misses of a few rows of a large "
        "table over threads, more saves hand-overs where the table is in the cache.",
    .family = "kernel",
    .values = {64, 4, 16, 256},
    .scope = Scope::site,
    .witness = "embedding",
}};

const Knob<int64_t> gather_ahead{{
    .name = "gather.prefetch",
    .help = "How many rows ahead a Gather asks for; 0 = none. The processor follows one row by itself and not the jump "
            "to the next: for embeddings whose table is larger than the last-level cache.",
    .family = "kernel",
    .values = {0, 2, 4, 8},
    .scope = Scope::site,
    .witness = "embedding",
}};

constexpr int64_t cache_line = 64;

int64_t axis_of(const Problem& problem) {
    const int64_t axis = problem.attributes.integer("axis", 0);
    return axis < 0 ? axis + static_cast<int64_t>(problem.src[0]->shape.rank()) : axis;
}

// outer x extent x run bytes are read, outer x count x run bytes written.
class GatherPrepared final : public Prepared {
public:
    GatherPrepared(const Problem& problem, const Choices& choices)
        : wide_(problem.src[1]->type == ElementType::i64), ahead_(choices.get(gather_ahead)) {
        const Shape& shape = problem.src[0]->shape;
        const auto axis = static_cast<size_t>(axis_of(problem));
        outer_ = shape.elements(0, axis);
        extent_ = shape[axis];
        run_ = shape.elements(axis + 1, shape.rank()) * static_cast<int64_t>(size_of(problem.src[0]->type));
        count_ = problem.src[1]->shape.elements();
        per_tile_ = std::max<int64_t>(1, choices.get(gather_tile_kb) * 1024 / std::max<int64_t>(run_, 1));
        int packed = 0;
        for (size_t k = 0; k < 2; ++k) packed_[k] = problem.constant[k] ? packed++ : -1;
    }

    int64_t tiles(int) const override { return ceil_div(outer_ * count_, per_tile_); }

    void run(const Args& args, int, int64_t begin, int64_t end) const override {
        const std::byte* data = input(args, 0);
        const std::byte* indices = input(args, 1);
        const int64_t last = std::min(outer_ * count_, end * per_tile_);
        for (int64_t i = begin * per_tile_; i < last; ++i) {
            if (ahead_ > 0 && i + ahead_ < last) ask_for(row_of(data, indices, i + ahead_));
            std::memcpy(args.dst[0] + i * run_, row_of(data, indices, i), static_cast<size_t>(run_));
        }
    }

private:
    const std::byte* input(const Args& args, size_t k) const {
        return packed_[k] < 0 ? args.src[k] : args.packed[packed_[k]];
    }

    const std::byte* row_of(const std::byte* data, const std::byte* indices, int64_t i) const {
        return data + (i / count_ * extent_ + checked_index(indices, i % count_)) * run_;
    }

    void ask_for(const std::byte* row) const {
        for (int64_t at = 0; at < run_; at += cache_line) __builtin_prefetch(row + at);
    }

    int64_t checked_index(const std::byte* indices, int64_t at) const {
        const int64_t given =
            wide_ ? reinterpret_cast<const int64_t*>(indices)[at] : reinterpret_cast<const int32_t*>(indices)[at];
        if (given < -extent_ || given >= extent_)
            throw UserError("Gather: index " + std::to_string(given) + " is outside an axis of " +
                            std::to_string(extent_));
        return given < 0 ? given + extent_ : given;
    }

    bool wide_;
    int64_t ahead_;
    int64_t outer_ = 0, extent_ = 0, run_ = 0, count_ = 0, per_tile_ = 1;
    int packed_[2] = {-1, -1};
};

Verdict supports(const Problem& problem) {
    if (!problem.epilogue.empty()) return Verdict::no(Reason::epilogue, "takes none");
    if (problem.src.size() != 2 || !problem.src[0] || !problem.src[1] || problem.dst.size() != 1)
        return Verdict::no(Reason::shape, "inputs or outputs");
    const TensorDesc& data = *problem.src[0];
    const TensorDesc& indices = *problem.src[1];
    if (size_of(data.type) == 0 || data.type != problem.dst[0].type)
        return Verdict::no(Reason::element_type, std::string(to_string(data.type)));
    if (indices.type != ElementType::i64 && indices.type != ElementType::i32)
        return Verdict::no(Reason::element_type, "indices");
    for (const TensorDesc* desc : {&data, &indices, &problem.dst[0]})
        if (desc->layout != Layout::plain) return Verdict::no(Reason::layout, "needs plain tensors");
    const int64_t axis = axis_of(problem);
    if (axis < 0 || axis >= static_cast<int64_t>(data.shape.rank())) return Verdict::no(Reason::attribute, "axis");
    const auto at = static_cast<size_t>(axis);
    std::vector<int64_t> dims(data.shape.begin(), data.shape.begin() + axis);
    dims.insert(dims.end(), indices.shape.begin(), indices.shape.end());
    dims.insert(dims.end(), data.shape.begin() + axis + 1, data.shape.end());
    if (problem.dst[0].shape != Shape(std::move(dims)))
        return Verdict::no(Reason::shape, "the output has another shape");
    return data.shape[at] == 0 && indices.shape.elements() > 0 ? Verdict::no(Reason::shape, "an empty axis")
                                                               : Verdict::yes();
}

const Kernel gather{{
    .name = "gather.runs.baseline",
    .algorithm = "runs",
    .help = "Runs behind the axis copied whole; every index is checked.",
    .ops = {"Gather"},
    .numerics = Numerics::exact,
    .knobs = {&gather_tile_kb, &gather_ahead},
    .supports = [](const Problem& problem, const Target&, const Choices&) { return supports(problem); },
    .work = [](const Problem& problem, const Target&,
               const Choices&) { return Work{.flops = 0, .bytes = 2 * static_cast<double>(problem.dst[0].bytes())}; },
    .pack =
        [](const Problem& problem, const Target&, const Choices&, std::span<const Tensor* const> constants) {
            std::vector<Tensor> blobs;
            for (size_t k = 0; k < problem.src.size(); ++k)
                if (problem.constant[k]) blobs.push_back(*constants[k]);
            return blobs;
        },
    .prepare = [](const Problem& problem, const Target&, const Choices& choices) -> std::unique_ptr<Prepared> {
        return std::make_unique<GatherPrepared>(problem, choices);
    },
}};

}  // namespace
}  // namespace headway
