#include <functional>

#include "ops/elementwise.h"
#include "ops/legacy_broadcast.h"

namespace headway {
const Op mul_op{{
    .name = "Mul",
    .since = {1, 6, 7, 13, 14},
    .inputs = {2, 2},
    .types = number_types,
    .attributes = legacy_broadcast_attributes(),
    .infer = infer_with_legacy(LegacyBroadcast::by_attributes, infer_broadcast),
    .reference = reference_with_legacy(LegacyBroadcast::by_attributes,
                                       binary_number([](auto a, auto b) { return wrapping(a, b, std::multiplies{}); })),
    .help = "a * b with broadcasting; integers wrap.",
}};

}  // namespace headway
