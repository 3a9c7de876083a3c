#include <cmath>

#include "ops/elementwise.h"

namespace headway {
const Op is_na_n_op{{
    .name = "IsNaN",
    .since = {9, 13, 20},
    .types = float_types,
    .infer = infer_boolean,
    .reference =
        [](const ReferenceContext& context) {
            visit_float(context.in(0).type(), [&]<class E>(E) {
                apply_unary<E, BooleanElement>(context.in(0), context.out(0), [](double x) { return std::isnan(x); });
            });
        },
    .help = "True where an element is NaN.",
}};

}  // namespace headway
