#include <algorithm>
#include <cmath>

#include "ops/elementwise.h"

namespace headway {
const Op mish_op{{
    .name = "Mish",
    .since = {18, 22},
    .types = float_types,
    .infer = infer_same,
    .reference =
        unary_float([](double x) { return x * std::tanh(std::max(x, 0.0) + std::log1p(std::exp(-std::fabs(x)))); }),
    .help = "x * tanh(softplus(x)) of each element.",
}};

}  // namespace headway
