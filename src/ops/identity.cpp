#include "ops/arguments.h"
#include "ops/elementwise.h"

namespace headway {

const Op identity_op{{
    .name = "Identity",
    .since = {1, 13, 14, 16, 19, 21, 23, 24, 25},
    .types = any_types,
    .infer = infer_same,
    .reference = copy_reference,
    .interpret = [](const InterpretContext& context) { return std::vector<Datum>{context.datum(0)}; },
    .data_movement = true,
    .help = "Its input.",
}};

}  // namespace headway
