#include <cmath>
#include <functional>

#include "ops/elementwise.h"

namespace headway {
const Op abs_op{{
    .name = "Abs",
    .since = {1, 6, 13},
    .types = number_types,
    .infer = infer_same,
    .reference = unary_number([](auto x) {
        using T = decltype(x);
        if constexpr (std::is_floating_point_v<T>)
            return std::fabs(x);
        else
            return x < T{0} ? wrapping(T{0}, x, std::minus{}) : x;
    }),
    .help = "Absolute value of each element; integers wrap.",
}};

}  // namespace headway
