// Comparisons, logic, Where and Cast over plain tensors with broadcasting.
#include <algorithm>
#include <array>

#include "base/checked.h"
#include "kernels/cpu/typed/typed_ops.h"
#include "kernels/kernel.h"

namespace headway {
namespace {

const Knob<int64_t> typed_tile_kelements{{
    .name = "typed.tile_kelements",
    .help =
        "Elements of a comparison, selection or cast that are one unit of scheduling, in thousands. Less spreads the "
        "masks of short sequences over threads, more saves hand-overs on images.",
    .family = "kernel",
    .values = {16, 2, 4, 64},
    .scope = Scope::site,
    .witness = "mask",
}};

constexpr size_t most_inputs = 3;

// A dimension of the dst with the strides of the inputs along it.
struct LoopDim {
    int64_t extent = 1;
    std::array<int64_t, most_inputs> strides{};
};

std::array<int64_t, most_inputs> strides_along(const Problem& problem, size_t axis,
                                               const std::vector<std::vector<int64_t>>& strides) {
    std::array<int64_t, most_inputs> along{};
    const size_t rank = problem.dst[0].shape.rank();
    for (size_t k = 0; k < problem.src.size(); ++k) {
        const Shape& shape = problem.src[k]->shape;
        const size_t missing = rank - shape.rank();
        if (axis >= missing && shape[axis - missing] != 1) along[k] = strides[k][axis - missing];
    }
    return along;
}

// Outermost first, neighbours merged where every input allows it; never empty.
std::vector<LoopDim> loop_dims(const Problem& problem) {
    std::vector<std::vector<int64_t>> strides;
    for (const auto& src : problem.src) strides.push_back(src->shape.strides());
    std::vector<LoopDim> dims;
    for (size_t axis = 0; axis < problem.dst[0].shape.rank(); ++axis) {
        const LoopDim dim{problem.dst[0].shape[axis], strides_along(problem, axis, strides)};
        if (dim.extent == 1) continue;
        bool merges = !dims.empty();
        for (size_t k = 0; merges && k < most_inputs; ++k)
            merges = dims.back().strides[k] == dim.strides[k] * dim.extent;
        if (merges)
            dims.back() = {dims.back().extent * dim.extent, dim.strides};
        else
            dims.push_back(dim);
    }
    if (dims.empty()) dims.push_back({1, {1, 1, 1}});
    return dims;
}

class TypedPrepared final : public Prepared {
public:
    TypedPrepared(const Problem& problem, TypedLoop loop, int64_t tile)
        : loop_(loop), dims_(loop_dims(problem)), dst_size_(static_cast<int64_t>(size_of(problem.dst[0].type))) {
        run_ = dims_.back();
        dims_.pop_back();
        for (const LoopDim& dim : dims_) rows_ *= dim.extent;
        chunk_ = std::max<int64_t>(1, std::min(run_.extent, tile));
        chunks_ = ceil_div(run_.extent, chunk_);
        rows_per_tile_ = std::max<int64_t>(1, tile / chunk_);
        int packed = 0;
        for (size_t k = 0; k < problem.src.size(); ++k) {
            sizes_.push_back(static_cast<int64_t>(size_of(problem.src[k]->type)));
            packed_.push_back(problem.constant[k] ? packed++ : -1);
        }
    }

    int64_t tiles(int) const override { return ceil_div(rows_, rows_per_tile_) * chunks_; }

    void run(const Args& args, int, int64_t begin, int64_t end) const override {
        for (int64_t tile = begin; tile < end; ++tile) {
            const int64_t first = tile / chunks_ * rows_per_tile_;
            const int64_t last = std::min(rows_, first + rows_per_tile_);
            for (int64_t row = first; row < last; ++row) run_row(args, row, tile % chunks_ * chunk_);
        }
    }

private:
    void run_row(const Args& args, int64_t row, int64_t first) const {
        const std::byte* src[most_inputs] = {};
        for (size_t k = 0; k < sizes_.size(); ++k) {
            int64_t offset = first * run_.strides[k];
            int64_t left = row;
            for (size_t dim = dims_.size(); dim-- > 0;) {
                offset += left % dims_[dim].extent * dims_[dim].strides[k];
                left /= dims_[dim].extent;
            }
            src[k] = (packed_[k] < 0 ? args.src[k] : args.packed[packed_[k]]) + offset * sizes_[k];
        }
        loop_(src, run_.strides.data(), args.dst[0] + (row * run_.extent + first) * dst_size_,
              std::min(chunk_, run_.extent - first));
    }

    TypedLoop loop_;
    std::vector<LoopDim> dims_;
    LoopDim run_;
    int64_t dst_size_;
    std::vector<int64_t> sizes_;
    std::vector<int> packed_;  // blob of a constant input, else -1
    int64_t rows_ = 1, rows_per_tile_ = 1, chunk_ = 1, chunks_ = 1;
};

TypedLoop loop_of(const Problem& problem, const TypedOps& ops) {
    if (problem.op == "Where") return ops.where(size_of(problem.dst[0].type));
    if (problem.op == "Cast") return ops.cast(problem.src[0]->type, problem.dst[0].type);
    if (problem.src.size() == 1) return ops.test(problem.op, problem.src[0]->type);
    return ops.compare(problem.op, problem.src[0]->type);
}

Verdict supports(const Problem& problem, const TypedOps& ops) {
    if (!problem.epilogue.empty()) return Verdict::no(Reason::epilogue, "takes none");
    const bool is_unary = problem.op == "Cast" || problem.op == "IsNaN" || problem.op == "Not";
    const size_t inputs = problem.op == "Where" ? 3 : is_unary ? 1 : 2;
    if (problem.src.size() != inputs || problem.dst.size() != 1) return Verdict::no(Reason::shape, "inputs or outputs");
    const TensorDesc& dst = problem.dst[0];
    for (const auto& src : problem.src) {
        if (!src) return Verdict::no(Reason::shape, "an absent input");
        if (src->layout != Layout::plain || dst.layout != Layout::plain)
            return Verdict::no(Reason::layout, "needs plain tensors");
        if (src->shape.rank() > dst.shape.rank()) return Verdict::no(Reason::shape, "ranks");
        for (size_t i = 1; i <= src->shape.rank(); ++i) {
            const int64_t extent = src->shape[src->shape.rank() - i];
            if (extent != 1 && extent != dst.shape[dst.shape.rank() - i])
                return Verdict::no(Reason::shape, src->shape.text() + " to " + dst.shape.text());
        }
    }
    // The inputs of a choice or comparison are of one type; a choice has the type of what it chooses from.
    const ElementType type = problem.src.back()->type;
    if (inputs >= 2 && problem.src[inputs - 2]->type != type)
        return Verdict::no(Reason::element_type, "inputs of two types");
    if (problem.op == "Where" && (dst.type != type || problem.src[0]->type != ElementType::boolean))
        return Verdict::no(Reason::element_type, "choice");
    if (is_unary && problem.src[0]->shape != dst.shape) return Verdict::no(Reason::shape, "shapes differ");
    if (loop_of(problem, ops) == nullptr)
        return Verdict::no(Reason::element_type,
                           std::string(to_string(problem.src[0]->type)) + " to " + std::string(to_string(dst.type)));
    return Verdict::yes();
}

Work work(const Problem& problem) {
    Work work;
    for (const auto& src : problem.src) work.bytes += static_cast<double>(src->bytes());
    work.bytes += static_cast<double>(problem.dst[0].bytes());
    work.flops = static_cast<double>(problem.dst[0].shape.elements());
    work.efficiency = 0.1;
    return work;
}

Kernel::Fields typed_fields(const std::string& family, const std::string& help, std::vector<std::string> names, Isa isa,
                            const TypedOps& (*ops)()) {
    return {
        .name = family + ".loop." + std::string(to_string(isa)),
        .algorithm = "loop",
        .help = help,
        .ops = std::move(names),
        .isa = isa,
        .numerics = Numerics::exact,
        .knobs = {&typed_tile_kelements},
        .supports = [ops](const Problem& problem, const Target&, const Choices&) { return supports(problem, ops()); },
        .work = [](const Problem& problem, const Target&, const Choices&) { return work(problem); },
        .pack =
            [](const Problem& problem, const Target&, const Choices&, std::span<const Tensor* const> constants) {
                std::vector<Tensor> blobs;
                for (size_t k = 0; k < problem.src.size(); ++k)
                    if (problem.constant[k]) blobs.push_back(*constants[k]);
                return blobs;
            },
        .prepare = [ops](const Problem& problem, const Target&, const Choices& choices) -> std::unique_ptr<Prepared> {
            return std::make_unique<TypedPrepared>(problem, loop_of(problem, ops()),
                                                   choices.get(typed_tile_kelements) * 1024);
        },
    };
}

const std::vector<std::string> comparisons{"Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual",
                                           "And",   "Or",   "Xor",         "IsNaN",   "Not"};
const std::string compare_help = "Comparisons and logic, one vector loop for each pair of broadcast forms.";
const Kernel compare_baseline{typed_fields("compare", compare_help, comparisons, Isa::baseline, baseline::typed_ops)};
const Kernel compare_avx2{typed_fields("compare", compare_help, comparisons, Isa::avx2, avx2::typed_ops)};
const std::string where_help = "Selection between two tensors.";
const Kernel where_baseline{typed_fields("where", where_help, {"Where"}, Isa::baseline, baseline::typed_ops)};
const Kernel where_avx2{typed_fields("where", where_help, {"Where"}, Isa::avx2, avx2::typed_ops)};
const std::string cast_help = "Changes between f32, integers and booleans.";
const Kernel cast_baseline{typed_fields("cast", cast_help, {"Cast"}, Isa::baseline, baseline::typed_ops)};
const Kernel cast_avx2{typed_fields("cast", cast_help, {"Cast"}, Isa::avx2, avx2::typed_ops)};

}  // namespace
}  // namespace headway
