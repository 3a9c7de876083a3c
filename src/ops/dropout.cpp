#include "ops/arguments.h"
#include "ops/elementwise.h"

namespace headway {
namespace {

bool dropout_trains(const Tensor* mode) { return mode != nullptr && scalar_of(*mode, "training_mode") != 0; }

void infer_dropout(InferContext& context) {
    if (context.has(2) && dropout_trains(&context.required(2, "training_mode")))
        throw Unsupported("training mode is not supported");
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
    .attributes = {{"seed", "int", "0", "not read: only inference is supported"}},
    .infer = infer_dropout,
    .reference = dropout_reference,
    .data_movement = true,
    .help = "Its input, as at inference; the mask is all true. Training mode is refused.",
}};

}  // namespace headway
