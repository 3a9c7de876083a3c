#include "ops/reduce.h"

namespace headway {
const Op reduce_prod_op{{
    .name = "ReduceProd",
    .since = reduce_versions(),
    .inputs = {1, 2},
    .types = number_types,
    .attributes = reduce_attributes(),
    .infer = infer_reduce,
    .reference = reduction(
        1, [](auto product, auto x) { return wrapping(product, x, std::multiplies{}); }, KeepValue{}),
    .help = "Product; integers wrap; 1 over nothing.",
}};

}  // namespace headway
