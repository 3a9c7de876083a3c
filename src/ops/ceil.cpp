#include <cmath>

#include "ops/elementwise.h"

namespace headway {
const Op ceil_op{{
    .name = "Ceil",
    .since = {1, 6, 13},
    .types = float_types,
    .infer = infer_same,
    .reference = unary_float([](double x) { return std::ceil(x); }),
    .help = "Smallest integer not below each element.",
}};

}  // namespace headway
