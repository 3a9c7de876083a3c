#include <cmath>

#include "ops/elementwise.h"

namespace headway {
const Op softsign_op{{
    .name = "Softsign",
    .since = {1, 22},
    .types = float_types,
    .infer = infer_same,
    .reference = unary_float([](double x) { return x / (1.0 + std::fabs(x)); }),
    .help = "x / (1 + |x|) of each element.",
}};

}  // namespace headway
