// Concat and Split along any axis, in any layout.
#include <algorithm>

#include "kernels/cpu/move/planners.h"

namespace headway {
namespace {

int64_t axis_of(const Problem& problem, size_t rank, int64_t fallback) {
    const int64_t axis = problem.attributes.integer("axis", fallback);
    return axis < 0 ? axis + static_cast<int64_t>(rank) : axis;
}

// Whether `part` is `whole` but for the extent of one axis.
bool fits_beside(const Shape& part, const Shape& whole, size_t axis) {
    if (part.rank() != whole.rank()) return false;
    for (size_t i = 0; i < part.rank(); ++i)
        if (i != axis && part[i] != whole[i]) return false;
    return true;
}

}  // namespace

Verdict plan_concat(const Problem& problem, CopyPlan* plan) {
    const TensorDesc& dst = problem.dst[0];
    const int64_t axis = axis_of(problem, dst.shape.rank(), 0);
    if (axis < 0 || axis >= static_cast<int64_t>(dst.shape.rank()))
        return Verdict::no(Reason::attribute, "axis " + std::to_string(axis));
    int64_t start = 0;
    for (size_t k = 0; k < problem.src.size(); ++k) {
        if (!problem.src[k]) return Verdict::no(Reason::shape, "an absent input");
        const TensorDesc& src = *problem.src[k];
        if (src.type != dst.type) return Verdict::no(Reason::element_type, "inputs of several types");
        if (!fits_beside(src.shape, dst.shape, static_cast<size_t>(axis)))
            return Verdict::no(Reason::shape, src.shape.text() + " into " + dst.shape.text());
        std::vector<BoxAxis> box = whole_box(src.shape);
        box[static_cast<size_t>(axis)].dst_start = start;
        start += src.shape[static_cast<size_t>(axis)];
        if (plan != nullptr) plan->add_box(static_cast<int>(k), src, 0, dst, box);
    }
    if (start != dst.shape[static_cast<size_t>(axis)]) return Verdict::no(Reason::shape, "extents do not add up");
    return Verdict::yes();
}

Verdict plan_split(const Problem& problem, CopyPlan* plan) {
    const TensorDesc& src = *problem.src[0];
    const int64_t axis = axis_of(problem, src.shape.rank(), 0);
    if (axis < 0 || axis >= static_cast<int64_t>(src.shape.rank()))
        return Verdict::no(Reason::attribute, "axis " + std::to_string(axis));
    int64_t start = 0;
    for (size_t k = 0; k < problem.dst.size(); ++k) {
        const TensorDesc& dst = problem.dst[k];
        if (!fits_beside(dst.shape, src.shape, static_cast<size_t>(axis)))
            return Verdict::no(Reason::shape, dst.shape.text() + " of " + src.shape.text());
        std::vector<BoxAxis> box = whole_box(dst.shape);
        box[static_cast<size_t>(axis)].src_start = start;
        start += dst.shape[static_cast<size_t>(axis)];
        if (plan != nullptr) plan->add_box(0, src, static_cast<int>(k), dst, box);
    }
    if (start != src.shape[static_cast<size_t>(axis)]) return Verdict::no(Reason::shape, "extents do not add up");
    return Verdict::yes();
}

namespace {

const std::string concat_help = "Each input copied to its place along the axis.";
const Kernel concat_baseline{copy_kernel("concat", concat_help, {"Concat"}, plan_concat, Isa::baseline)};
const Kernel concat_avx2{copy_kernel("concat", concat_help, {"Concat"}, plan_concat, Isa::avx2)};
const std::string split_help = "Each output copied from its place along the axis.";
const Kernel split_baseline{copy_kernel("split", split_help, {"Split"}, plan_split, Isa::baseline)};
const Kernel split_avx2{copy_kernel("split", split_help, {"Split"}, plan_split, Isa::avx2)};

}  // namespace
}  // namespace headway
