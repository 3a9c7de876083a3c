#include "ops/elementwise.h"

namespace headway {
const Op reciprocal_op{{
    .name = "Reciprocal",
    .since = {1, 6, 13},
    .types = float_types,
    .infer = infer_same,
    .reference = unary_float([](double x) { return 1.0 / x; }),
    .help = "One divided by each element.",
}};

}  // namespace headway
