#include <cmath>

#include "ops/elementwise.h"

namespace headway {
const Op tanh_op{{
    .name = "Tanh",
    .since = {1, 6, 13},
    .types = float_types,
    .infer = infer_same,
    .reference = unary_float([](double x) { return std::tanh(x); }),
    .help = "Hyperbolic tangent of each element.",
}};

}  // namespace headway
