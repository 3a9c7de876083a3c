#include "ops/elementwise.h"
#include "ops/legacy_broadcast.h"

namespace headway {
const Op and_op{{
    .name = "And",
    .since = {1, 7},
    .inputs = {2, 2},
    .types = boolean_type,
    .attributes = legacy_broadcast_attributes(),
    .infer = infer_with_legacy(LegacyBroadcast::by_attributes, infer_broadcast_boolean),
    .reference =
        reference_with_legacy(LegacyBroadcast::by_attributes, logical([](int64_t a, int64_t b) { return a & b; })),
    .help = "Both of two booleans, with broadcasting.",
}};

}  // namespace headway
