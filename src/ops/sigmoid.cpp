#include <cmath>

#include "ops/elementwise.h"

namespace headway {
const Op sigmoid_op{{
    .name = "Sigmoid",
    .since = {1, 6, 13},
    .types = float_types,
    .infer = infer_same,
    .reference = unary_float([](double x) { return 1.0 / (1.0 + std::exp(-x)); }),
    .help = "1 / (1 + exp(-x)) of each element.",
}};

}  // namespace headway
