#include "ops/elementwise.h"

namespace headway {
const Op not_op{{
    .name = "Not",
    .since = {1},
    .types = boolean_type,
    .infer = infer_same,
    .reference =
        [](const ReferenceContext& context) {
            apply_unary<BooleanElement, BooleanElement>(context.in(0), context.out(0), [](int64_t x) { return 1 - x; });
        },
    .help = "The opposite of each boolean.",
}};

}  // namespace headway
