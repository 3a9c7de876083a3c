#include "ops/elementwise.h"

namespace headway {
const Op sign_op{{
    .name = "Sign",
    .since = {9, 13},
    .types = number_types,
    .infer = infer_same,
    .reference = unary_number([](auto x) {
        return x > 0 ? decltype(x){1} : x < decltype(x){0} ? static_cast<decltype(x)>(-1) : x;
    }),
    .help = "-1, 0 or 1; zero and NaN stay as they are.",
}};

}  // namespace headway
