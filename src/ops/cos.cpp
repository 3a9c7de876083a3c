#include <cmath>

#include "ops/elementwise.h"

namespace headway {
const Op cos_op{{
    .name = "Cos",
    .since = {7, 22},
    .types = float_types,
    .infer = infer_same,
    .reference = unary_float([](double x) { return std::cos(x); }),
    .help = "Cosine of each element.",
}};

}  // namespace headway
