#include "ops/op.h"

namespace headway {
namespace {

bool has_element(const InterpretContext& context) {
    return context.has(0) && !std::holds_alternative<Absent>(context.datum(0));
}

std::vector<Datum> interpret_optional_get_element(const InterpretContext& context) {
    if (!has_element(context)) throw UserError("its optional has no element");
    return {context.datum(0)};
}

}  // namespace

const Op optional_op{{
    .name = "Optional",
    .since = {15},
    .inputs = {0, 1},
    .attributes = {{"type", "type", "", "of the element that is absent; not read"}},
    .interpret = [](const InterpretContext& context) -> std::vector<Datum> {
        return {context.has(0) ? context.datum(0) : Datum{}};
    },
    .help = "An optional with its input as element, or without one. Interpreted only.",
}};

const Op optional_has_element_op{{
    .name = "OptionalHasElement",
    .since = {15, 18},
    .inputs = {0, 1},
    .interpret = [](const InterpretContext& context) -> std::vector<Datum> {
        return {Tensor::scalar(has_element(context))};
    },
    .help = "Whether an optional has an element; true for tensors and sequences. Interpreted only.",
}};

const Op optional_get_element_op{{
    .name = "OptionalGetElement",
    .since = {15, 18},
    .interpret = interpret_optional_get_element,
    .help = "The element of an optional. Interpreted only.",
}};

}  // namespace headway
