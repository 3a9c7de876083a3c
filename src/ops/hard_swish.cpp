#include <algorithm>

#include "ops/elementwise.h"

namespace headway {
const Op hard_swish_op{{
    .name = "HardSwish",
    .since = {14, 22},
    .types = float_types,
    .infer = infer_same,
    .reference = unary_float([](double x) { return x * std::clamp(x / 6.0 + 0.5, 0.0, 1.0); }),
    .help = "x * max(0, min(1, x / 6 + 0.5)) of each element.",
}};

}  // namespace headway
