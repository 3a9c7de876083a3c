#include <algorithm>

#include "ops/arguments.h"
#include "ops/strided.h"

namespace headway {
namespace {

Shape center_crop_pad_shape(const Attributes& attributes, Shape shape, const std::vector<int64_t>& extents) {
    std::vector<int64_t> axes;
    for (size_t axis = 0; axis < shape.rank(); ++axis) axes.push_back(static_cast<int64_t>(axis));
    if (attributes.has("axes")) axes = normalized_axes(attributes.integers("axes"), shape.rank());
    require_length(extents, axes.size(), "shape");
    for (size_t i = 0; i < axes.size(); ++i) shape[static_cast<size_t>(axes[i])] = extents[i];
    return shape;
}

void infer_center_crop_pad(InferContext& context) {
    context.set_output(
        0, context.type(0),
        center_crop_pad_shape(context.attributes(), context.shape(0), context.required_integers(1, "the shape")));
}

void center_crop_pad_reference(const ReferenceContext& context) {
    const Shape& from = context.in(0).shape();
    const Shape& to = context.out(0).shape();
    const Strides from_strides = from.strides();
    const Strides to_strides = to.strides();
    Shape common = from;
    int64_t from_offset = 0;
    int64_t to_offset = 0;
    for (size_t axis = 0; axis < from.rank(); ++axis) {
        common[axis] = std::min(from[axis], to[axis]);
        // An odd difference leaves the larger half at the end.
        from_offset += (from[axis] - common[axis]) / 2 * from_strides[axis];
        to_offset += (to[axis] - common[axis]) / 2 * to_strides[axis];
    }
    strided_copy(context.in(0), from_offset, from_strides, context.out(0), to_offset, to_strides, common);
}

}  // namespace

const Op center_crop_pad_op{{
    .name = "CenterCropPad",
    .since = {18},
    .inputs = {2, 2},
    .types = fixed_size_types | string_type,
    .attributes = {{"axes", "ints", "all", "the axes that shape is about"}},
    .infer = infer_center_crop_pad,
    .reference = center_crop_pad_reference,
    .data_movement = true,
    .help = "The middle of the input where it is larger than the shape, zeros around it where it is smaller.",
}};

}  // namespace headway
