#include <functional>

#include "ops/elementwise.h"

namespace headway {
const Op prelu_op{{
    .name = "PRelu",
    .since = {9, 16},
    .inputs = {2, 2},
    .types = number_types,
    .infer = infer_broadcast,
    .reference = binary_number(
        [](auto x, auto slope) { return x < decltype(x){0} ? wrapping(x, slope, std::multiplies{}) : x; }),
    .help = "slope * x below zero, x elsewhere; the slope broadcasts to x.",
}};

}  // namespace headway
