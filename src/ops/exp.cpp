#include <cmath>

#include "ops/elementwise.h"

namespace headway {
const Op exp_op{{
    .name = "Exp",
    .since = {1, 6, 13},
    .types = float_types,
    .infer = infer_same,
    .reference = unary_float([](double x) { return std::exp(x); }),
    .help = "e to the power of each element.",
}};

}  // namespace headway
