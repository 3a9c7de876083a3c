#include <cmath>

#include "ops/elementwise.h"

namespace headway {
const Op sin_op{{
    .name = "Sin",
    .since = {7, 22},
    .types = float_types,
    .infer = infer_same,
    .reference = unary_float([](double x) { return std::sin(x); }),
    .help = "Sine of each element.",
}};

}  // namespace headway
