#include "ops/concat.h"

#include "base/checked.h"
#include "ops/arguments.h"
#include "ops/elementwise.h"

namespace headway {
namespace {

int64_t concat_axis(const Attributes& attributes, size_t rank) {
    if (!attributes.has("axis")) throw UserError("has no axis");
    return axis_of(attributes, 0, rank);
}

// Before opset 4 the axis is 1 unless it is given.
Attributes with_concat_axis(Attributes attributes, int version) {
    if (version < 4 && !attributes.has("axis")) attributes.set("axis", int64_t{1});
    return attributes;
}

void infer_concat(InferContext& context) {
    require_same_types(context);
    std::vector<Shape> shapes;
    for (size_t i = 0; i < context.input_count(); ++i) shapes.push_back(context.shape(i));
    context.set_output(0, context.type(0),
                       concat_shape(with_concat_axis(context.attributes(), context.version()), shapes));
}

}  // namespace

Shape concat_shape(const Attributes& attributes, std::span<const Shape> shapes) {
    Shape shape = shapes[0];
    const auto axis = static_cast<size_t>(concat_axis(attributes, shape.rank()));
    for (const Shape& next : shapes.subspan(1)) {
        Shape other = next;
        if (other.rank() != shape.rank()) throw UserError("its inputs have different ranks");
        const int64_t total = checked_add(shape[axis], other[axis], "the joined axis");
        other[axis] = shape[axis];
        if (other != shape)
            throw UserError("inputs of " + shapes[0].text() + " and " + next.text() + " cannot be joined");
        shape[axis] = total;
    }
    return shape;
}

void concatenate(const Attributes& attributes, std::span<const Tensor* const> inputs, Tensor& output) {
    const Strides to = output.shape().strides();
    const auto axis = static_cast<size_t>(concat_axis(attributes, to.size()));
    int64_t start = 0;
    for (const Tensor* input : inputs) {
        const Shape& shape = input->shape();
        strided_copy(*input, 0, shape.strides(), output, start * to[axis], to, shape);
        start += shape[axis];
    }
}

const Op concat_op{{
    .name = "Concat",
    .since = {1, 4, 11, 13},
    .inputs = {1, any_number},
    .types = any_types,
    .attributes = {{"axis", "int", "1 before opset 4", "the axis along which the inputs follow each other"}},
    .infer = infer_concat,
    .reference =
        [](const ReferenceContext& context) {
            concatenate(with_concat_axis(context.attributes, context.version), context.inputs, context.out(0));
        },
    .data_movement = true,
    .help = "Joins tensors along one axis.",
}};

}  // namespace headway
