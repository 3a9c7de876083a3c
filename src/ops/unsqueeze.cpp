#include "ops/arguments.h"

namespace headway {
namespace {

void infer_unsqueeze(InferContext& context) {
    const Shape& shape = context.shape(0);
    const OptionalIntegers axes = integers_of(context, 1, "axes");
    if (!axes) throw UserError("has no axes");
    const size_t rank = shape.rank() + axes->size();
    const std::vector<bool> added = axis_flags(normalized_axes(*axes, rank), rank);
    std::vector<int64_t> dims;
    size_t next = 0;
    for (size_t axis = 0; axis < rank; ++axis) dims.push_back(added[axis] ? 1 : shape[next++]);
    context.set_output(0, context.type(0), Shape(std::move(dims)));
}

}  // namespace

const Op unsqueeze_op{{
    .name = "Unsqueeze",
    .since = {1, 11, 13, 21, 23, 24, 25},
    .inputs = {1, 2},
    .types = any_types,
    .attributes = {{"axes", "ints", "", "where the new axes stand in the output (an input from opset 13)"}},
    .infer = infer_unsqueeze,
    .reference = copy_reference,
    .data_movement = true,
    .help = "Inserts axes of extent 1.",
}};

}  // namespace headway
