#include "ops/op.h"

namespace headway {

const Op size_op{{
    .name = "Size",
    .since = {1, 13, 19, 21, 23, 24, 25},
    .types = any_types,
    .infer = [](InferContext& context) { context.set_output(0, ElementType::i64, Shape{}); },
    .reference =
        [](const ReferenceContext& context) { context.out(0).mutable_data<int64_t>()[0] = context.in(0).elements(); },
    .help = "The number of elements of its input.",
}};

}  // namespace headway
