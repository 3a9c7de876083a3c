#include <algorithm>
#include <cmath>

#include "ops/elementwise.h"

namespace headway {
const Op softplus_op{{
    .name = "Softplus",
    .since = {1, 22},
    .types = float_types,
    .infer = infer_same,
    .reference = unary_float([](double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::fabs(x))); }),
    .help = "log(1 + exp(x)) of each element.",
}};

}  // namespace headway
