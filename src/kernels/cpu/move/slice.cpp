// Slice with known bounds: a box with steps of either sign.
#include <algorithm>

#include "kernels/cpu/move/planners.h"

namespace headway {
namespace {

struct Bounds {
    std::vector<int64_t> starts, axes, steps;
};

std::vector<int64_t> given(const Problem& problem, size_t src, const char* attribute) {
    if (const auto value = constant_integers(problem, src)) return *value;
    return problem.attributes.integers(attribute);
}

// What opset 1 has as attributes is an input from opset 10 on. Ends are not needed: the output shape says as much.
Verdict bounds_of(const Problem& problem, Bounds& bounds) {
    for (size_t k = 1; k < problem.src.size(); ++k)
        if (problem.src[k] && !constant_integers(problem, k))
            return Verdict::no(Reason::needs_constant, "bounds that are not known");
    bounds.starts = given(problem, 1, "starts");
    bounds.axes = given(problem, 3, "axes");
    bounds.steps = given(problem, 4, "steps");
    if (bounds.axes.empty())
        for (size_t i = 0; i < bounds.starts.size(); ++i) bounds.axes.push_back(static_cast<int64_t>(i));
    if (bounds.steps.empty()) bounds.steps.assign(bounds.starts.size(), 1);
    if (bounds.axes.size() != bounds.starts.size() || bounds.steps.size() != bounds.starts.size())
        return Verdict::no(Reason::attribute, "bounds of unequal lengths");
    return Verdict::yes();
}

}  // namespace

Verdict plan_slice(const Problem& problem, CopyPlan* plan) {
    const TensorDesc& src = *problem.src[0];
    const TensorDesc& dst = problem.dst[0];
    Bounds bounds;
    if (Verdict verdict = bounds_of(problem, bounds); !verdict) return verdict;
    const auto rank = static_cast<int64_t>(src.shape.rank());
    if (dst.shape.rank() != src.shape.rank()) return Verdict::no(Reason::shape, "ranks differ");
    const bool blocked = channel_block(src.layout) > 1 || channel_block(dst.layout) > 1;
    std::vector<BoxAxis> box = whole_box(dst.shape);
    std::vector<bool> sliced(src.shape.rank(), false);
    for (size_t i = 0; i < bounds.starts.size(); ++i) {
        const int64_t axis = bounds.axes[i] < 0 ? bounds.axes[i] + rank : bounds.axes[i];
        if (axis < 0 || axis >= rank || bounds.steps[i] == 0) return Verdict::no(Reason::attribute, "axis or step");
        const auto at = static_cast<size_t>(axis);
        const int64_t step = bounds.steps[i];
        const int64_t extent = src.shape[at];
        if (blocked && axis == 1 && step != 1) return Verdict::no(Reason::layout, "a step over blocked channels");
        const int64_t raw = bounds.starts[i] < 0 ? bounds.starts[i] + extent : bounds.starts[i];
        const int64_t start = std::clamp<int64_t>(raw, 0, step < 0 ? extent - 1 : extent);
        const int64_t count = dst.shape[at];
        const int64_t last = start + (count - 1) * step;
        if (count > 0 && (last < 0 || last >= extent || start >= extent))
            return Verdict::no(Reason::shape, "the slice leaves the input");
        box[at].src_start = start;
        box[at].src_step = step;
        sliced[at] = true;
    }
    for (size_t axis = 0; axis < sliced.size(); ++axis)
        if (!sliced[axis] && src.shape[axis] != dst.shape[axis])
            return Verdict::no(Reason::shape, src.shape.text() + " to " + dst.shape.text());
    if (plan != nullptr) plan->add_box(0, src, 0, dst, box);
    return Verdict::yes();
}

namespace {

const std::string help = "A box with constant bounds, copied run by run.";
const Kernel slice_baseline{copy_kernel("slice", help, {"Slice"}, plan_slice, Isa::baseline)};
const Kernel slice_avx2{copy_kernel("slice", help, {"Slice"}, plan_slice, Isa::avx2)};

}  // namespace
}  // namespace headway
