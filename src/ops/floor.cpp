#include <cmath>

#include "ops/elementwise.h"

namespace headway {
const Op floor_op{{
    .name = "Floor",
    .since = {1, 6, 13},
    .types = float_types,
    .infer = infer_same,
    .reference = unary_float([](double x) { return std::floor(x); }),
    .help = "Largest integer not above each element.",
}};

}  // namespace headway
