#include <cmath>

#include "ops/elementwise.h"

namespace headway {
const Op cosh_op{{
    .name = "Cosh",
    .since = {9, 22},
    .types = float_types,
    .infer = infer_same,
    .reference = unary_float([](double x) { return std::cosh(x); }),
    .help = "Hyperbolic cosine of each element.",
}};

}  // namespace headway
