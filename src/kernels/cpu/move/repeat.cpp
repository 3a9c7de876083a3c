// Expand and Tile: the same elements again along some axes; and the operators that only rename axes, where their input
// cannot be the output's memory.
#include "kernels/cpu/layout/copy_plan.h"

namespace headway {
namespace {

Verdict plan_expand(const Problem& problem, CopyPlan* plan) {
    const TensorDesc& src = *problem.src[0];
    const TensorDesc& dst = problem.dst[0];
    const size_t rank = dst.shape.rank();
    if (src.shape.rank() > rank) return Verdict::no(Reason::shape, "the input has the higher rank");
    if ((src.layout != Layout::plain || dst.layout != Layout::plain) && src.shape.rank() != rank)
        return Verdict::no(Reason::layout, "ranks differ");
    const size_t missing = rank - src.shape.rank();
    std::vector<BoxAxis> box;
    for (size_t axis = 0; axis < rank; ++axis) {
        const int64_t have = axis < missing ? 1 : src.shape[axis - missing];
        if (have != 1 && have != dst.shape[axis])
            return Verdict::no(Reason::shape, src.shape.text() + " to " + dst.shape.text());
        box.push_back({dst.shape[axis], 0, axis < missing ? -1 : static_cast<int>(axis - missing), 0,
                       have == dst.shape[axis] ? 1 : 0});
    }
    if (plan != nullptr) plan->add_box(0, src, 0, dst, box);
    return Verdict::yes();
}

Verdict need_plain(const Problem& problem) {
    if (problem.src[0]->layout != Layout::plain || problem.dst[0].layout != Layout::plain)
        return Verdict::no(Reason::layout, "needs plain tensors");
    return Verdict::yes();
}

// Each axis of the dst is (repeat, extent).
Verdict plan_tile(const Problem& problem, CopyPlan* plan) {
    if (Verdict verdict = need_plain(problem); !verdict) return verdict;
    const Shape& src = problem.src[0]->shape;
    const Shape& dst = problem.dst[0].shape;
    if (src.rank() != dst.rank()) return Verdict::no(Reason::shape, "ranks differ");
    const std::vector<int64_t> src_strides = src.strides(), dst_strides = dst.strides();
    std::vector<CopyDim> dims;
    for (size_t axis = 0; axis < src.rank(); ++axis) {
        if (dst[axis] == 0) return Verdict::yes();
        if (src[axis] == 0 || dst[axis] % src[axis] != 0)
            return Verdict::no(Reason::shape, src.text() + " to " + dst.text());
        dims.push_back({dst[axis] / src[axis], 0, dst_strides[axis] * src[axis]});
        dims.push_back({src[axis], src_strides[axis], dst_strides[axis]});
    }
    if (plan != nullptr) plan->add(0, 0, StridedCopy(std::move(dims), 0, 0, size_of(problem.dst[0].type)));
    return Verdict::yes();
}

Verdict plan_same_bytes(const Problem& problem, CopyPlan* plan) {
    const TensorDesc& src = *problem.src[0];
    const TensorDesc& dst = problem.dst[0];
    if (problem.op == "Dropout") {
        if (problem.dst.size() > 1) return Verdict::no(Reason::shape, "a mask as an output");
        if (problem.src.size() > 2 && problem.src[2]) return Verdict::no(Reason::attribute, "training mode");
    }
    if (src.shape.elements() != dst.shape.elements())
        return Verdict::no(Reason::shape, src.shape.text() + " to " + dst.shape.text());
    if (src.shape == dst.shape) {
        if (plan != nullptr) plan->add_box(0, src, 0, dst, whole_box(dst.shape));
        return Verdict::yes();
    }
    if (Verdict verdict = need_plain(problem); !verdict) return verdict;
    if (plan != nullptr) plan->add(0, 0, StridedCopy({{src.shape.elements(), 1, 1}}, 0, 0, size_of(dst.type)));
    return Verdict::yes();
}

const std::string expand_help = "Broadcasting to a larger shape.";
const Kernel expand_baseline{copy_kernel("expand", expand_help, {"Expand"}, plan_expand, Isa::baseline)};
const Kernel expand_avx2{copy_kernel("expand", expand_help, {"Expand"}, plan_expand, Isa::avx2)};
const std::string tile_help = "The whole tensor again along each axis.";
const Kernel tile_baseline{copy_kernel("tile", tile_help, {"Tile"}, plan_tile, Isa::baseline)};
const Kernel tile_avx2{copy_kernel("tile", tile_help, {"Tile"}, plan_tile, Isa::avx2)};
const std::string same_help = "Operators that only rename axes, where the bytes must be copied.";
const std::vector<std::string> same_ops{"Identity", "Reshape", "Squeeze", "Unsqueeze", "Flatten", "Dropout"};
const Kernel same_baseline{copy_kernel("reshape", same_help, same_ops, plan_same_bytes, Isa::baseline)};
const Kernel same_avx2{copy_kernel("reshape", same_help, same_ops, plan_same_bytes, Isa::avx2)};

}  // namespace
}  // namespace headway
