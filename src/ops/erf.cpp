#include <cmath>

#include "ops/elementwise.h"

namespace headway {
const Op erf_op{{
    .name = "Erf",
    .since = {9, 13},
    .types = float_types,
    .infer = infer_same,
    .reference = unary_float([](double x) { return std::erf(x); }),
    .help = "Gauss error function of each element.",
}};

}  // namespace headway
