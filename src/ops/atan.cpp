#include <cmath>

#include "ops/elementwise.h"

namespace headway {
const Op atan_op{{
    .name = "Atan",
    .since = {7, 22},
    .types = float_types,
    .infer = infer_same,
    .reference = unary_float([](double x) { return std::atan(x); }),
    .help = "Arc tangent of each element.",
}};

}  // namespace headway
