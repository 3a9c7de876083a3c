#include "ops/arguments.h"
#include "ops/element.h"
#include "ops/strided.h"

namespace headway {
namespace {

std::vector<int64_t> nonzero_positions(const Tensor& x) {
    std::vector<int64_t> positions;
    visit_element(x.type(), [&]<class E>(E) {
        const auto* values = stored<typename E::Storage>(x);
        for (int64_t i = 0; i < x.elements(); ++i)
            if (E::load(values[i]) != 0) positions.push_back(i);
    });
    return positions;
}

void infer_non_zero(InferContext& context) {
    const Tensor& x = context.required(0, "its input");
    context.set_output(
        0, ElementType::i64,
        Shape{static_cast<int64_t>(x.shape().rank()), static_cast<int64_t>(nonzero_positions(x).size())});
}

void non_zero_reference(const ReferenceContext& context) {
    const Shape& shape = context.in(0).shape();
    const Strides strides = shape.strides();
    const std::vector<int64_t> positions = nonzero_positions(context.in(0));
    int64_t* y = context.out(0).mutable_data<int64_t>().data();
    for (size_t axis = 0; axis < shape.rank(); ++axis)
        for (int64_t position : positions) *y++ = position / strides[axis] % shape[axis];
}

}  // namespace

const Op non_zero_op{{
    .name = "NonZero",
    .since = {9, 13},
    .types = fixed_size_types | string_type,
    .infer = infer_non_zero,
    .reference = non_zero_reference,
    .help = "Positions of all elements that are not zero, one row per axis. The input must be known when the model is "
            "built.",
}};

}  // namespace headway
