#include "ops/arguments.h"
#include "ops/strided.h"

namespace headway {
namespace {

Tensor fill_value(const Attributes& attributes) {
    const Tensor* value = attributes.tensor("value");
    if (value == nullptr) return Tensor::scalar(0.0F);
    if (value->elements() != 1) throw UserError("attribute value must hold one element");
    return *value;
}

void infer_constant_of_shape(InferContext& context) {
    context.set_output(0, fill_value(context.attributes()).type(), Shape(context.required_integers(0, "its shape")));
}

void constant_of_shape_reference(const ReferenceContext& context) {
    const Tensor value = fill_value(context.attributes);
    const Shape& shape = context.out(0).shape();
    strided_copy(value, 0, Strides(shape.rank(), 0), context.out(0), 0, shape.strides(), shape);
}

}  // namespace

const Op constant_of_shape_op{{
    .name = "ConstantOfShape",
    .since = {9, 20, 21, 23, 24, 25},
    .types = index_types,
    .attributes = {{"value", "tensor", "0.0", "one element that fills the output"}},
    .infer = infer_constant_of_shape,
    .reference = constant_of_shape_reference,
    .data_movement = true,
    .help = "A tensor of the given shape filled with one value.",
}};

}  // namespace headway
