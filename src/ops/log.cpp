#include <cmath>

#include "ops/elementwise.h"

namespace headway {
const Op log_op{{
    .name = "Log",
    .since = {1, 6, 13},
    .types = float_types,
    .infer = infer_same,
    .reference = unary_float([](double x) { return std::log(x); }),
    .help = "Natural logarithm of each element.",
}};

}  // namespace headway
