#include "base/checked.h"
#include "ops/arguments.h"
#include "ops/elementwise.h"

namespace headway {
namespace {

int64_t concat_axis(const Attributes& attributes, size_t rank) {
    if (!attributes.has("axis")) throw UserError("has no axis");
    return axis_of(attributes, 0, rank);
}

void infer_concat(InferContext& context) {
    require_same_types(context);
    Shape shape = context.shape(0);
    const auto axis = static_cast<size_t>(concat_axis(context.attributes(), shape.rank()));
    for (size_t i = 1; i < context.input_count(); ++i) {
        Shape other = context.shape(i);
        if (other.rank() != shape.rank()) throw UserError("its inputs have different ranks");
        const int64_t total = checked_add(shape[axis], other[axis], "the joined axis");
        other[axis] = shape[axis];
        if (other != shape)
            throw UserError("inputs of " + context.shape(0).text() + " and " + context.shape(i).text() +
                            " cannot be joined");
        shape[axis] = total;
    }
    context.set_output(0, context.type(0), shape);
}

void concat_reference(const ReferenceContext& context) {
    const Strides to = context.out(0).shape().strides();
    const auto axis = static_cast<size_t>(concat_axis(context.attributes, to.size()));
    int64_t start = 0;
    for (size_t i = 0; i < context.inputs.size(); ++i) {
        const Shape& shape = context.in(i).shape();
        strided_copy(context.in(i), 0, shape.strides(), context.out(0), start * to[axis], to, shape);
        start += shape[axis];
    }
}

}  // namespace

const Op concat_op{{
    .name = "Concat",
    .since = {4, 11, 13},
    .inputs = {1, any_number},
    .types = movable_types,
    .attributes = {{"axis", "int", "", "the axis along which the inputs follow each other"}},
    .infer = infer_concat,
    .reference = concat_reference,
    .data_movement = true,
    .help = "Joins tensors along one axis.",
}};

}  // namespace headway
