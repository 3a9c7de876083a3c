#include <cmath>

#include "ops/elementwise.h"

namespace headway {
const Op round_op{{
    .name = "Round",
    .since = {11, 22},
    .types = float_types,
    .infer = infer_same,
    .reference = unary_float([](double x) { return std::nearbyint(x); }),
    .help = "Each element rounded to the nearest integer, ties to even.",
}};

}  // namespace headway
