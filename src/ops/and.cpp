#include "ops/elementwise.h"

namespace headway {
const Op and_op{{
    .name = "And",
    .since = {7},
    .inputs = {2, 2},
    .types = boolean_type,
    .infer = infer_broadcast_boolean,
    .reference = logical([](int64_t a, int64_t b) { return a & b; }),
    .help = "Both of two booleans, with broadcasting.",
}};

}  // namespace headway
