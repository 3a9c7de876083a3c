#include <functional>

#include "ops/elementwise.h"
#include "ops/legacy_broadcast.h"

namespace headway {
const Op sub_op{{
    .name = "Sub",
    .since = {1, 6, 7, 13, 14},
    .inputs = {2, 2},
    .types = number_types,
    .attributes = legacy_broadcast_attributes(),
    .infer = infer_with_legacy(LegacyBroadcast::by_attributes, infer_broadcast),
    .reference = reference_with_legacy(LegacyBroadcast::by_attributes,
                                       binary_number([](auto a, auto b) { return wrapping(a, b, std::minus{}); })),
    .help = "a - b with broadcasting; integers wrap.",
}};

}  // namespace headway
