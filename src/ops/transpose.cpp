#include "ops/arguments.h"
#include "ops/strided.h"

namespace headway {
namespace {

std::vector<int64_t> permutation(const Attributes& attributes, size_t rank) {
    std::vector<int64_t> order(rank);
    for (size_t i = 0; i < rank; ++i) order[i] = static_cast<int64_t>(rank - 1 - i);
    if (!attributes.has("perm")) return order;
    order = attributes.integers("perm");
    require_length(order, rank, "perm");
    return normalized_axes(order, rank);
}

void infer_transpose(InferContext& context) {
    const Shape& shape = context.shape(0);
    std::vector<int64_t> dims;
    for (int64_t axis : permutation(context.attributes(), shape.rank()))
        dims.push_back(shape[static_cast<size_t>(axis)]);
    context.set_output(0, context.type(0), Shape(std::move(dims)));
}

void transpose_reference(const ReferenceContext& context) {
    const Shape& to = context.out(0).shape();
    const Strides from = context.in(0).shape().strides();
    Strides strides;
    for (int64_t axis : permutation(context.attributes, from.size()))
        strides.push_back(from[static_cast<size_t>(axis)]);
    strided_copy(context.in(0), 0, strides, context.out(0), 0, to.strides(), to);
}

}  // namespace

const Op transpose_op{{
    .name = "Transpose",
    .since = {1, 13, 21, 23, 24, 25},
    .types = any_types,
    .attributes = {{"perm", "ints", "reversed", "input axis for each output axis"}},
    .infer = infer_transpose,
    .reference = transpose_reference,
    .data_movement = true,
    .help = "Reorders the axes.",
}};

}  // namespace headway
