#include "ops/elementwise.h"

namespace headway {
const Op equal_op{{
    .name = "Equal",
    .since = {7, 11, 13, 19},
    .inputs = {2, 2},
    .types = fixed_size_types,
    .infer = infer_broadcast_boolean,
    .reference = comparison([](auto a, auto b) { return a == b; }),
    .help = "a == b with broadcasting; false where an operand is NaN.",
}};

}  // namespace headway
