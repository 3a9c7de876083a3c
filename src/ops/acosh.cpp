#include <cmath>

#include "ops/elementwise.h"

namespace headway {
const Op acosh_op{{
    .name = "Acosh",
    .since = {9, 22},
    .types = float_types,
    .infer = infer_same,
    .reference = unary_float([](double x) { return std::acosh(x); }),
    .help = "Inverse hyperbolic cosine of each element.",
}};

}  // namespace headway
