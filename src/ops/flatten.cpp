#include "ops/arguments.h"

namespace headway {
namespace {

void infer_flatten(InferContext& context) {
    const Shape& shape = context.shape(0);
    const auto rank = static_cast<int64_t>(shape.rank());
    const int64_t given = context.attributes().integer("axis", 1);
    if (given < -rank || given > rank)
        throw UserError("axis " + std::to_string(given) + " is outside the input's rank");
    const auto axis = static_cast<size_t>(given < 0 ? given + rank : given);
    context.set_output(0, context.type(0), Shape{shape.elements(0, axis), shape.elements(axis, shape.rank())});
}

}  // namespace

const Op flatten_op{{
    .name = "Flatten",
    .since = {1, 9, 11, 13, 21, 23, 24, 25},
    .types = any_types,
    .attributes = {{"axis", "int", "1", "axes before it become rows, the others columns"}},
    .infer = infer_flatten,
    .reference = copy_reference,
    .data_movement = true,
    .help = "The input as a matrix.",
}};

}  // namespace headway
