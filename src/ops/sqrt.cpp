#include <cmath>

#include "ops/elementwise.h"

namespace headway {
const Op sqrt_op{{
    .name = "Sqrt",
    .since = {1, 6, 13},
    .types = float_types,
    .infer = infer_same,
    .reference = unary_float([](double x) { return std::sqrt(x); }),
    .help = "Square root of each element; NaN for negative ones.",
}};

}  // namespace headway
