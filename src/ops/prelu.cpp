#include <functional>

#include "ops/elementwise.h"
#include "ops/legacy_broadcast.h"

namespace headway {
const Op prelu_op{{
    .name = "PRelu",
    .since = {1, 6, 7, 9, 16},
    .inputs = {2, 2},
    .types = number_types,
    .infer = infer_with_legacy(LegacyBroadcast::along_channels, infer_broadcast),
    .reference = reference_with_legacy(LegacyBroadcast::along_channels, binary_number([](auto x, auto slope) {
                                           return x < decltype(x){0} ? wrapping(x, slope, std::multiplies{}) : x;
                                       })),
    .help = "slope * x below zero, x elsewhere; the slope broadcasts to x.",
}};

}  // namespace headway
