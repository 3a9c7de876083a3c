#include "ops/reduce.h"

namespace headway {
const Op reduce_l1_op{{
    .name = "ReduceL1",
    .since = reduce_versions(),
    .inputs = {1, 2},
    .types = number_types,
    .attributes = reduce_attributes(),
    .infer = infer_reduce,
    .reference = reduction(
        0,
        [](auto sum, auto x) {
            return wrapping(sum, x < decltype(x){0} ? wrapping(decltype(x){0}, x, std::minus{}) : x, std::plus{});
        },
        KeepValue{}),
    .help = "Sum of absolute values.",
}};

}  // namespace headway
