#include <cmath>

#include "ops/elementwise.h"

namespace headway {
const Op atanh_op{{
    .name = "Atanh",
    .since = {9, 22},
    .types = float_types,
    .infer = infer_same,
    .reference = unary_float([](double x) { return std::atanh(x); }),
    .help = "Inverse hyperbolic tangent of each element.",
}};

}  // namespace headway
