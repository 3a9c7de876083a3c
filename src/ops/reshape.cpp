#include "base/checked.h"
#include "ops/arguments.h"

namespace headway {
namespace {

// 0 keeps the extent of the input (unless allowzero), one -1 takes what is left.
Shape reshaped(const Shape& from, std::vector<int64_t> dims, bool allow_zero) {
    int64_t free_axis = -1;
    int64_t known = 1;
    for (size_t axis = 0; axis < dims.size(); ++axis) {
        if (dims[axis] == 0 && !allow_zero) {
            if (axis >= from.rank())
                throw UserError("its shape copies axis " + std::to_string(axis) + ", which the input lacks");
            dims[axis] = from[axis];
        }
        if (dims[axis] == -1) {
            if (free_axis >= 0) throw UserError("its shape has two extents of -1");
            free_axis = static_cast<int64_t>(axis);
        } else {
            known = checked_mul(known, dims[axis], "its shape");
        }
    }
    const int64_t elements = from.elements();
    if (free_axis >= 0) {
        if (known == 0 || elements % known != 0)
            throw UserError("no extent for -1 fits: the input has " + std::to_string(elements) + " elements");
        dims[static_cast<size_t>(free_axis)] = elements / known;
        known = elements;
    }
    if (known != elements)
        throw UserError("the input has " + std::to_string(elements) + " elements but its shape asks for " +
                        std::to_string(known));
    return Shape(std::move(dims));
}

void infer_reshape(InferContext& context) {
    const OptionalIntegers dims = integers_of(context, 1, "shape");
    if (!dims) throw UserError("has no shape");
    const bool allow_zero = context.attributes().integer("allowzero", 0) != 0;
    context.set_output(0, context.type(0), reshaped(context.shape(0), *dims, allow_zero));
}

}  // namespace

const Op reshape_op{{
    .name = "Reshape",
    .since = {1, 5, 13, 14, 19, 21, 23, 24, 25},
    .inputs = {1, 2},
    .types = any_types,
    .attributes = {{"allowzero", "int", "0", "1: an extent of 0 means zero elements, not \"as the input\" (opset 14)"},
                   {"shape", "ints", "", "the new shape (opset 1)"}},
    .infer = infer_reshape,
    .reference = copy_reference,
    .data_movement = true,
    .help = "The same elements under another shape.",
}};

}  // namespace headway
