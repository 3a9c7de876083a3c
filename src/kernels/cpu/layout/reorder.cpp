// Layout changes: the same tensor with its channels elsewhere.
#include "kernels/cpu/layout/copy_plan.h"

namespace headway {
namespace {

Verdict plan_reorder(const Problem& problem, CopyPlan* plan) {
    const TensorDesc& src = *problem.src[0];
    const TensorDesc& dst = problem.dst[0];
    if (src.shape != dst.shape) return Verdict::no(Reason::shape, src.shape.text() + " becomes " + dst.shape.text());
    if (plan != nullptr) plan->add_box(0, src, 0, dst, whole_box(dst.shape));
    return Verdict::yes();
}

const std::string help = "A layout change, by transposes in registers where channels and pixels swap.";
const Kernel reorder_baseline{copy_kernel("reorder", help, {"Reorder"}, plan_reorder, Isa::baseline)};
const Kernel reorder_avx2{copy_kernel("reorder", help, {"Reorder"}, plan_reorder, Isa::avx2)};

}  // namespace
}  // namespace headway
