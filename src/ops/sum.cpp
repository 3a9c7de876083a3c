#include <functional>

#include "ops/elementwise.h"

namespace headway {
const Op sum_op{{
    .name = "Sum",
    .since = {1, 6, 8, 13},
    .inputs = {1, any_number},
    .types = float_types,
    .infer = infer_broadcast,
    .reference = variadic_number(std::plus{}),
    .help = "Sum of all inputs, element by element, with broadcasting.",
}};

}  // namespace headway
