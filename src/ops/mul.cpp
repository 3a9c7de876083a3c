#include <functional>

#include "ops/elementwise.h"

namespace headway {
const Op mul_op{{
    .name = "Mul",
    .since = {7, 13, 14},
    .inputs = {2, 2},
    .types = number_types,
    .infer = infer_broadcast,
    .reference = binary_number([](auto a, auto b) { return wrapping(a, b, std::multiplies{}); }),
    .help = "a * b with broadcasting; integers wrap.",
}};

}  // namespace headway
