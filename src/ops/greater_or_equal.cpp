#include "ops/elementwise.h"

namespace headway {
const Op greater_or_equal_op{{
    .name = "GreaterOrEqual",
    .since = {12, 16},
    .inputs = {2, 2},
    .types = number_types,
    .infer = infer_broadcast_boolean,
    .reference = comparison([](auto a, auto b) { return a >= b; }),
    .help = "a >= b with broadcasting; false where an operand is NaN.",
}};

}  // namespace headway
