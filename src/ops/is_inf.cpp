#include <cmath>

#include "ops/elementwise.h"

namespace headway {
const Op is_inf_op{{
    .name = "IsInf",
    .since = {10, 20},
    .types = float_types,
    .attributes = {{"detect_positive", "int", "1", "find +infinity"},
                   {"detect_negative", "int", "1", "find -infinity"}},
    .infer = infer_boolean,
    .reference =
        [](const ReferenceContext& context) {
            const bool positive = context.attributes.integer("detect_positive", 1) != 0;
            const bool negative = context.attributes.integer("detect_negative", 1) != 0;
            visit_float(context.in(0).type(), [&]<class E>(E) {
                apply_unary<E, BooleanElement>(context.in(0), context.out(0), [&](double x) {
                    return std::isinf(x) && (x > 0 ? positive : negative);
                });
            });
        },
    .help = "True where an element is infinite.",
}};

}  // namespace headway
