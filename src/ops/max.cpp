#include "ops/elementwise.h"

namespace headway {
const Op max_op{{
    .name = "Max",
    .since = {1, 6, 8, 12, 13},
    .inputs = {1, any_number},
    .types = number_types,
    .infer = infer_broadcast,
    .reference = variadic_number([](auto a, auto b) { return is_nan(a) || (!is_nan(b) && !(a < b)) ? a : b; }),
    .help = "Largest of all inputs, element by element, with broadcasting; NaN wins.",
}};

}  // namespace headway
