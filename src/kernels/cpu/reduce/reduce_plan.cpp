#include "kernels/cpu/reduce/reduce_plan.h"

#include <algorithm>

#include "kernels/cpu/layout/physical.h"

namespace headway {
namespace {

struct Meaning {
    const char* op;
    ReduceKind kind;
    bool mean, square_root;
};

constexpr Meaning meanings[] = {
    {"ReduceSum", ReduceKind::sum, false, false},
    {"ReduceMean", ReduceKind::sum, true, false},
    {"ReduceMax", ReduceKind::max, false, false},
    {"ReduceMin", ReduceKind::min, false, false},
    {"ReduceL1", ReduceKind::sum_abs, false, false},
    {"ReduceL2", ReduceKind::sum_square, false, true},
    {"ReduceSumSquare", ReduceKind::sum_square, false, false},
    {"GlobalAveragePool", ReduceKind::sum, true, false},
    {"GlobalMaxPool", ReduceKind::max, false, false},
};

const Meaning* meaning_of(const std::string& op) {
    for (const Meaning& meaning : meanings)
        if (op == meaning.op) return &meaning;
    return nullptr;
}

// Which logical axes go.
Verdict reduced_axes(const Problem& problem, std::vector<bool>& reduced) {
    const size_t rank = problem.src[0]->shape.rank();
    reduced.assign(rank, false);
    if (problem.op.rfind("Global", 0) == 0) {
        for (size_t axis = 2; axis < rank; ++axis) reduced[axis] = true;
        return Verdict::yes();
    }
    std::vector<int64_t> axes = problem.attributes.integers("axes");
    if (problem.src.size() > 1 && problem.src[1]) {
        if (!constant_integers(problem, 1)) return Verdict::no(Reason::needs_constant, "axes that are not known");
        axes = *constant_integers(problem, 1);
    }
    if (axes.empty() && problem.attributes.integer("noop_with_empty_axes", 0) != 0)
        return Verdict::no(Reason::attribute, "no axes");
    if (axes.empty()) reduced.assign(rank, true);
    for (int64_t axis : axes) {
        const int64_t at = axis < 0 ? axis + static_cast<int64_t>(rank) : axis;
        if (at < 0 || at >= static_cast<int64_t>(rank))
            return Verdict::no(Reason::attribute, "axis " + std::to_string(axis));
        reduced[static_cast<size_t>(at)] = true;
    }
    return Verdict::yes();
}

// A tensor's kept extents in memory order, by src axis; a whole blocked channel axis counts as one where nothing lies
// between its parts and there is no padding.
std::vector<std::pair<size_t, int>> kept_order(const TensorDesc& desc, const std::vector<size_t>& src_axis,
                                               const std::vector<bool>& reduced) {
    std::vector<std::pair<size_t, int>> order;
    for (const PhysicalDim& dim : physical_dims(desc)) {
        const size_t axis = src_axis[dim.axis];
        if (reduced[axis] || (desc.shape[dim.axis] == 1 && dim.part == PhysicalDim::Part::whole)) continue;
        const bool joins = dim.part == PhysicalDim::Part::lane && !order.empty() &&
                           order.back() == std::pair(axis, static_cast<int>(PhysicalDim::Part::block)) &&
                           desc.shape[dim.axis] % dim.extent == 0;
        if (joins)
            order.back().second = static_cast<int>(PhysicalDim::Part::whole);
        else
            order.emplace_back(axis, static_cast<int>(dim.part));
    }
    return order;
}

Verdict check_order(const Problem& problem, const std::vector<bool>& reduced) {
    const TensorDesc& src = *problem.src[0];
    const TensorDesc& dst = problem.dst[0];
    std::vector<size_t> src_axes, dst_axes;
    const bool same_rank = dst.shape.rank() == src.shape.rank();
    Shape want;
    std::vector<int64_t> dims;
    for (size_t axis = 0; axis < src.shape.rank(); ++axis) {
        src_axes.push_back(axis);
        if (reduced[axis] && !same_rank) continue;
        dst_axes.push_back(axis);
        dims.push_back(reduced[axis] ? 1 : src.shape[axis]);
    }
    if (dst.shape != Shape(dims)) return Verdict::no(Reason::shape, src.shape.text() + " to " + dst.shape.text());
    if (channel_block(src.layout) > 1 && reduced[1])
        return Verdict::no(Reason::layout, "a reduction over blocked channels");
    const auto from = kept_order(src, src_axes, reduced);
    // A kept channel axis of extent 1 in a blocked dst would need its padding cleared.
    if (channel_block(dst.layout) > 1 && channel_block(dst.layout) != channel_block(src.layout))
        return Verdict::no(Reason::layout, "another layout of the output");
    if (from != kept_order(dst, dst_axes, reduced))
        return Verdict::no(Reason::layout,
                           std::string(to_string(src.layout)) + " to " + std::string(to_string(dst.layout)));
    return Verdict::yes();
}

}  // namespace

int64_t ReducePlan::kept_rows() const {
    int64_t count = 1;
    for (const Dim& dim : kept) count *= dim.extent;
    return count;
}

int64_t ReducePlan::reduced_rows() const {
    int64_t count = 1;
    for (const Dim& dim : reduced) count *= dim.extent;
    return count;
}

Verdict ReducePlan::make(const Problem& problem, ReducePlan& plan) {
    const Meaning* meaning = meaning_of(problem.op);
    if (meaning == nullptr) return Verdict::no(Reason::operator_not_handled, problem.op);
    const TensorDesc& src = *problem.src[0];
    std::vector<bool> gone;
    if (Verdict verdict = reduced_axes(problem, gone); !verdict) return verdict;
    if (Verdict verdict = check_order(problem, gone); !verdict) return verdict;
    plan = {};
    plan.kind = meaning->kind;
    plan.square_root = meaning->square_root;
    double count = 1;
    for (size_t axis = 0; axis < gone.size(); ++axis)
        if (gone[axis]) count *= static_cast<double>(src.shape[axis]);
    if (meaning->mean) plan.scale = 1 / count;
    if (count == 0) return Verdict::no(Reason::shape, "nothing to reduce");

    struct Part {
        int64_t extent, stride;
        bool reduced;
    };
    std::vector<Part> parts;
    int64_t stride = src.physical_elements();
    for (const PhysicalDim& dim : physical_dims(src)) {
        stride = dim.extent == 0 ? 0 : stride / dim.extent;
        if (dim.extent == 1) continue;
        if (!parts.empty() && parts.back().reduced == gone[dim.axis])
            parts.back() = {parts.back().extent * dim.extent, stride, gone[dim.axis]};
        else
            parts.push_back({dim.extent, stride, gone[dim.axis]});
    }
    if (parts.empty()) parts.push_back({1, 1, false});
    plan.run = parts.back().extent;
    plan.run_is_kept = !parts.back().reduced;
    parts.pop_back();
    for (const Part& part : parts) (part.reduced ? plan.reduced : plan.kept).push_back({part.extent, part.stride});
    plan.rows = {1, 0};
    if (plan.run_is_kept && !plan.reduced.empty()) {
        plan.rows = plan.reduced.back();
        plan.reduced.pop_back();
    }
    plan.outputs = plan.kept_rows() * (plan.run_is_kept ? plan.run : 1);
    return Verdict::yes();
}

}  // namespace headway
