#include <cmath>

#include "ops/elementwise.h"

namespace headway {
const Op asinh_op{{
    .name = "Asinh",
    .since = {9, 22},
    .types = float_types,
    .infer = infer_same,
    .reference = unary_float([](double x) { return std::asinh(x); }),
    .help = "Inverse hyperbolic sine of each element.",
}};

}  // namespace headway
