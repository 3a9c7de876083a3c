#include "ops/arguments.h"

namespace headway {
namespace {

void infer_squeeze(InferContext& context) {
    const Shape& shape = context.shape(0);
    const OptionalIntegers axes = integers_of(context, 1, "axes");
    const std::vector<bool> drop =
        axis_flags(normalized_axes(axes.value_or(std::vector<int64_t>{}), shape.rank()), shape.rank());
    std::vector<int64_t> dims;
    for (size_t axis = 0; axis < shape.rank(); ++axis) {
        if (drop[axis] && shape[axis] != 1)
            throw UserError("axis " + std::to_string(axis) + " has " + std::to_string(shape[axis]) +
                            " elements, not 1");
        const bool dropped = axes ? drop[axis] : shape[axis] == 1;
        if (!dropped) dims.push_back(shape[axis]);
    }
    context.set_output(0, context.type(0), Shape(std::move(dims)));
}

}  // namespace

const Op squeeze_op{{
    .name = "Squeeze",
    .since = {1, 11, 13, 21, 23, 24, 25},
    .inputs = {1, 2},
    .types = any_types,
    .attributes = {{"axes", "ints", "all of extent 1", "axes to drop (an input from opset 13)"}},
    .infer = infer_squeeze,
    .reference = copy_reference,
    .data_movement = true,
    .help = "Drops axes of extent 1.",
}};

}  // namespace headway
