#include "ops/elementwise.h"
#include "ops/legacy_broadcast.h"

namespace headway {
const Op less_op{{
    .name = "Less",
    .since = {1, 7, 9, 13},
    .inputs = {2, 2},
    .types = number_types,
    .attributes = legacy_broadcast_attributes(),
    .infer = infer_with_legacy(LegacyBroadcast::by_attributes, infer_broadcast_boolean),
    .reference =
        reference_with_legacy(LegacyBroadcast::by_attributes, comparison([](auto a, auto b) { return a < b; })),
    .help = "a < b with broadcasting; false where an operand is NaN.",
}};

}  // namespace headway
