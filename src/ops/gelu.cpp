#include "ops/gelu.h"

#include "ops/elementwise.h"

namespace headway {
namespace {

auto make_gelu(const Attributes& attributes) {
    const std::string approximate = attributes.text("approximate", "none");
    if (approximate != "none" && approximate != "tanh")
        throw UserError("attribute approximate is neither \"none\" nor \"tanh\"");
    return [by_tanh = approximate == "tanh"](double x) { return by_tanh ? gelu_by_tanh(x) : gelu_by_erf(x); };
}

}  // namespace

const Op gelu_op{{
    .name = "Gelu",
    .since = {20},
    .types = float_types,
    .attributes = {{"approximate", "string", "none", "\"none\" or \"tanh\""}},
    .infer = infer_same,
    .reference = unary_float_with(make_gelu),
    .help = "Gaussian error linear unit, 0.5 * x * (1 + erf(x / sqrt(2))), or its tanh approximation.",
}};

}  // namespace headway
