#include <cmath>

#include "ops/elementwise.h"

namespace headway {
const Op acos_op{{
    .name = "Acos",
    .since = {7, 22},
    .types = float_types,
    .infer = infer_same,
    .reference = unary_float([](double x) { return std::acos(x); }),
    .help = "Arc cosine of each element.",
}};

}  // namespace headway
