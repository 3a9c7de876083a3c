// Transpose of the logical axes; with nhwc on one side it may turn out to move nothing but whole runs.
#include "kernels/cpu/layout/copy_plan.h"

namespace headway {
namespace {

std::vector<int64_t> permutation(const Problem& problem) {
    std::vector<int64_t> perm = problem.attributes.integers("perm");
    const auto rank = static_cast<int64_t>(problem.src[0]->shape.rank());
    if (perm.empty())
        for (int64_t axis = rank; axis-- > 0;) perm.push_back(axis);
    return perm;
}

Verdict plan_transpose(const Problem& problem, CopyPlan* plan) {
    const TensorDesc& src = *problem.src[0];
    const TensorDesc& dst = problem.dst[0];
    const std::vector<int64_t> perm = permutation(problem);
    if (perm.size() != src.shape.rank() || perm.size() != dst.shape.rank())
        return Verdict::no(Reason::attribute, "perm of another rank");
    std::vector<BoxAxis> axes;
    for (size_t axis = 0; axis < perm.size(); ++axis) {
        const int64_t from = perm[axis];
        if (from < 0 || from >= static_cast<int64_t>(perm.size()) ||
            src.shape[static_cast<size_t>(from)] != dst.shape[axis])
            return Verdict::no(Reason::attribute, "perm does not give the output shape");
        axes.push_back({dst.shape[axis], 0, static_cast<int>(from), 0, 1});
    }
    const bool blocked = channel_block(src.layout) > 1 || channel_block(dst.layout) > 1;
    if (blocked && perm[1] != 1) return Verdict::no(Reason::layout, "blocked channels that move to another axis");
    if (plan != nullptr) plan->add_box(0, src, 0, dst, axes);
    return Verdict::yes();
}

const std::string help = "Any permutation of axes: whole runs, or blocks transposed in registers.";
const Kernel transpose_baseline{copy_kernel("transpose", help, {"Transpose"}, plan_transpose, Isa::baseline)};
const Kernel transpose_avx2{copy_kernel("transpose", help, {"Transpose"}, plan_transpose, Isa::avx2)};

}  // namespace
}  // namespace headway
