#include <cmath>

#include "ops/elementwise.h"

namespace headway {
const Op sinh_op{{
    .name = "Sinh",
    .since = {9, 22},
    .types = float_types,
    .infer = infer_same,
    .reference = unary_float([](double x) { return std::sinh(x); }),
    .help = "Hyperbolic sine of each element.",
}};

}  // namespace headway
