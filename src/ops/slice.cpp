#include <algorithm>
#include <limits>

#include "ops/arguments.h"
#include "ops/strided.h"

namespace headway {
namespace {

struct AxisSlice {
    int64_t start = 0, count = 0, step = 1;
};

// Negative positions count from the end; everything is clamped to the axis.
AxisSlice slice_axis(int64_t extent, int64_t start, int64_t end, int64_t step) {
    if (step == 0) throw UserError("a step is 0");
    const int64_t low = step > 0 ? 0 : -1;
    const int64_t high = step > 0 ? extent : extent - 1;
    const auto clamped = [&](int64_t position, int64_t least) {
        return std::clamp(position < 0 ? position + extent : position, std::min(least, high), high);
    };
    const int64_t first = clamped(start, 0);
    const int64_t last = clamped(end, low);
    const int64_t distance = step > 0 ? last - first : first - last;
    // The smallest integer has no negative; a step that large leaves the axis at once all the same.
    const int64_t stride = step > 0 ? step : -std::max(step, -std::numeric_limits<int64_t>::max());
    const int64_t count = distance > 0 && extent > 0 ? (distance - 1) / stride + 1 : 0;
    return {first, count, count > 1 ? step : 1};
}

template <class Context>
std::vector<AxisSlice> slices_of(const Context& context, const Shape& shape) {
    const OptionalIntegers starts = integers_of(context, 1, "starts");
    const OptionalIntegers ends = integers_of(context, 2, "ends");
    if (!starts || !ends) throw UserError("has no starts or no ends");
    std::vector<int64_t> all(starts->size());
    for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int64_t>(i);
    const std::vector<int64_t> axes = normalized_axes(integers_of(context, 3, "axes").value_or(all), shape.rank());
    const std::vector<int64_t> steps =
        integers_of(context, 4, "steps").value_or(std::vector<int64_t>(starts->size(), 1));
    require_length(*ends, starts->size(), "ends");
    require_length(axes, starts->size(), "axes");
    require_length(steps, starts->size(), "steps");
    std::vector<AxisSlice> slices;
    for (int64_t extent : shape) slices.push_back({0, extent, 1});
    for (size_t i = 0; i < axes.size(); ++i) {
        const auto axis = static_cast<size_t>(axes[i]);
        slices[axis] = slice_axis(shape[axis], (*starts)[i], (*ends)[i], steps[i]);
    }
    return slices;
}

void infer_slice(InferContext& context) {
    std::vector<int64_t> dims;
    for (const AxisSlice& slice : slices_of(context, context.shape(0))) dims.push_back(slice.count);
    context.set_output(0, context.type(0), Shape(std::move(dims)));
}

void slice_reference(const ReferenceContext& context) {
    const Shape& to = context.out(0).shape();
    if (to.elements() == 0) return;
    Strides strides = context.in(0).shape().strides();
    const std::vector<AxisSlice> slices = slices_of(context, context.in(0).shape());
    int64_t offset = 0;
    for (size_t axis = 0; axis < slices.size(); ++axis) {
        offset += slices[axis].start * strides[axis];
        strides[axis] *= slices[axis].step;
    }
    strided_copy(context.in(0), offset, strides, context.out(0), 0, to.strides(), to);
}

}  // namespace

const Op slice_op{{
    .name = "Slice",
    .since = {1, 10, 11, 13},
    .inputs = {1, 5},
    .types = any_types,
    .attributes = {{"starts", "ints", "", "first positions (inputs from opset 10 on)"},
                   {"ends", "ints", "", "positions before which to stop"},
                   {"axes", "ints", "0, 1, ...", "the axes they are about"}},
    .infer = infer_slice,
    .reference = slice_reference,
    .data_movement = true,
    .help = "Every step-th element between start and end of some axes.",
}};

}  // namespace headway
