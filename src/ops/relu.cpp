#include "ops/elementwise.h"

namespace headway {
const Op relu_op{{
    .name = "Relu",
    .since = {1, 6, 13, 14},
    .types = number_types,
    .infer = infer_same,
    .reference = unary_number([](auto x) { return x < decltype(x){0} ? decltype(x){0} : x; }),
    .help = "max(0, x) of each element; NaN stays NaN.",
}};

}  // namespace headway
