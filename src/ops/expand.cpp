#include "ops/arguments.h"
#include "ops/strided.h"

namespace headway {
namespace {

void infer_expand(InferContext& context) {
    const Shape wanted(context.required_integers(1, "its shape"));
    for (int64_t extent : wanted)
        if (extent < 0) throw UserError("its shape has a negative extent");
    context.set_output(0, context.type(0), broadcast(context.shape(0), wanted));
}

void expand_reference(const ReferenceContext& context) {
    const Shape& to = context.out(0).shape();
    strided_copy(context.in(0), 0, broadcast_strides(context.in(0).shape(), to), context.out(0), 0, to.strides(), to);
}

}  // namespace

const Op expand_op{{
    .name = "Expand",
    .since = {8, 13},
    .inputs = {2, 2},
    .types = any_types,
    .infer = infer_expand,
    .reference = expand_reference,
    .data_movement = true,
    .help = "The input repeated along axes of extent 1 until it has the shape that broadcasting gives.",
}};

}  // namespace headway
