#include <cmath>

#include "ops/elementwise.h"

namespace headway {
const Op asin_op{{
    .name = "Asin",
    .since = {7, 22},
    .types = float_types,
    .infer = infer_same,
    .reference = unary_float([](double x) { return std::asin(x); }),
    .help = "Arc sine of each element.",
}};

}  // namespace headway
