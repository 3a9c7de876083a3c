#include <functional>

#include "ops/elementwise.h"

namespace headway {
const Op mean_op{{
    .name = "Mean",
    .since = {1, 6, 8, 13},
    .inputs = {1, any_number},
    .types = float_types,
    .infer = infer_broadcast,
    .reference =
        [](const ReferenceContext& context) {
            visit_float(context.in(0).type(), [&]<class E>(E) {
                fold_inputs<E>(context, std::plus{}, [](double sum, double count) { return sum / count; });
            });
        },
    .help = "Mean of all inputs, element by element, with broadcasting.",
}};

}  // namespace headway
