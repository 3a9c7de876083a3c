#include <functional>

#include "ops/elementwise.h"

namespace headway {
const Op neg_op{{
    .name = "Neg",
    .since = {1, 6, 13},
    .types = signed_types,
    .infer = infer_same,
    .reference = unary_number([](auto x) {
        using T = decltype(x);
        if constexpr (std::is_floating_point_v<T>)
            return -x;
        else
            return wrapping(T{0}, x, std::minus{});
    }),
    .help = "Each element negated; integers wrap.",
}};

}  // namespace headway
