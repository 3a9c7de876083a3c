#include "ops/elementwise.h"

namespace headway {
const Op less_op{{
    .name = "Less",
    .since = {7, 9, 13},
    .inputs = {2, 2},
    .types = number_types,
    .infer = infer_broadcast_boolean,
    .reference = comparison([](auto a, auto b) { return a < b; }),
    .help = "a < b with broadcasting; false where an operand is NaN.",
}};

}  // namespace headway
