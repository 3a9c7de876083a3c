#include "base/checked.h"
#include "ops/arguments.h"
#include "ops/first_forms.h"
#include "ops/strided.h"

namespace headway {
namespace {

void infer_tile(InferContext& context) {
    Shape shape = context.shape(0);
    if (context.has(2) != (context.version() < 6))
        throw UserError("has " + std::to_string(context.input_count()) + " inputs, which its version does not take");
    const std::vector<int64_t> repeats =
        context.version() < 6
            ? first_tile_repeats(context.required(1, "its tiles"), context.required(2, "its axis"), shape.rank())
            : context.required_integers(1, "its repeats");
    require_length(repeats, shape.rank(), "repeats");
    for (size_t axis = 0; axis < shape.rank(); ++axis)
        shape[axis] = checked_mul(shape[axis], repeats[axis], "a repeated axis");
    context.set_output(0, context.type(0), shape);
}

// Each axis becomes two: which copy, and where in it.
void tile_reference(const ReferenceContext& context) {
    const Shape& shape = context.in(0).shape();
    const Strides from = shape.strides();
    const Strides to = context.out(0).shape().strides();
    const std::vector<int64_t> repeats =
        context.version < 6 ? first_tile_repeats(context.in(1), context.in(2), shape.rank()) : context.in(1).to_int64();
    std::vector<int64_t> dims;
    Strides src;
    Strides dst;
    for (size_t axis = 0; axis < shape.rank(); ++axis) {
        dims.insert(dims.end(), {repeats[axis], shape[axis]});
        src.insert(src.end(), {0, from[axis]});
        dst.insert(dst.end(), {to[axis] * shape[axis], to[axis]});
    }
    if (context.out(0).elements() > 0)
        strided_copy(context.in(0), 0, src, context.out(0), 0, dst, Shape(std::move(dims)));
}

}  // namespace

const Op tile_op{{
    .name = "Tile",
    .since = {1, 6, 13},
    .inputs = {2, 3},
    .types = any_types,
    .infer = infer_tile,
    .reference = tile_reference,
    .data_movement = true,
    .help = "The input repeated along each axis; before opset 6 along one, by inputs tiles and axis.",
}};

}  // namespace headway
