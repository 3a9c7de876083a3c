#include "ops/reduce.h"

namespace headway {
const Op reduce_sum_square_op{{
    .name = "ReduceSumSquare",
    .since = reduce_versions(),
    .inputs = {1, 2},
    .types = number_types,
    .attributes = reduce_attributes(),
    .infer = infer_reduce,
    .reference = reduction(
        0, [](auto sum, auto x) { return wrapping(sum, wrapping(x, x, std::multiplies{}), std::plus{}); }, KeepValue{}),
    .help = "Sum of squares.",
}};

}  // namespace headway
