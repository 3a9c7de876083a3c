#include "ops/reduce.h"

namespace headway {
const Op reduce_sum_op{{
    .name = "ReduceSum",
    .since = reduce_versions(),
    .inputs = {1, 2},
    .types = number_types,
    .attributes = reduce_attributes(),
    .infer = infer_reduce,
    .reference = reduction(
        0, [](auto sum, auto x) { return wrapping(sum, x, std::plus{}); }, KeepValue{}),
    .help = "Sum; integers wrap; 0 over nothing.",
}};

}  // namespace headway
