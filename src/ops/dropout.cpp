#include "ops/arguments.h"
#include "ops/elementwise.h"

namespace headway {
namespace {

// At training, elements are dropped at random, unless none are.
void refuse_random_dropout(const InferContext& context) {
    if (!context.has(2) || scalar_of(context.required(2, "training_mode"), "training_mode") == 0) return;
    if (!context.has(1) || scalar_of(context.required(1, "ratio"), "ratio") != 0)
        throw Unsupported("training mode is not supported, as its outputs are random");
}

void infer_dropout(InferContext& context) {
    refuse_random_dropout(context);
    context.set_output(0, context.type(0), context.shape(0));
    context.set_output(1, context.version() < 10 ? context.type(0) : ElementType::boolean, context.shape(0));
}

void dropout_reference(const ReferenceContext& context) {
    if (context.wants(0)) copy_reference(context);
    if (!context.wants(1)) return;
    Tensor& mask = context.out(1);
    for (int64_t i = 0; i < mask.elements(); ++i) mask.set(i, 1);
}

}  // namespace

const Op dropout_op{{
    .name = "Dropout",
    .since = {7, 10, 12, 13},
    .inputs = {1, 3},
    .outputs = {1, 2},
    .types = float_types,
    .attributes = {{"seed", "int", "0", "not read: random outputs are refused"}},
    .infer = infer_dropout,
    .reference = dropout_reference,
    .data_movement = true,
    .help = "Its input, as at inference; the mask is all true. Training mode is refused unless the ratio is 0.",
}};

}  // namespace headway
