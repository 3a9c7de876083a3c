#include <cmath>

#include "ops/elementwise.h"

namespace headway {
const Op tan_op{{
    .name = "Tan",
    .since = {7, 22},
    .types = float_types,
    .infer = infer_same,
    .reference = unary_float([](double x) { return std::tan(x); }),
    .help = "Tangent of each element.",
}};

}  // namespace headway
