#include <cmath>

#include "ops/elementwise.h"
#include "ops/first_forms.h"

namespace headway {
namespace {

void selu_reference(const ReferenceContext& context) {
    const bool is_first = context.version < 6;
    const double alpha = context.attributes.real("alpha", is_first ? first_selu_alpha : 1.67326319217681884765625F);
    const double gamma = context.attributes.real("gamma", is_first ? first_selu_gamma : 1.05070102214813232421875F);
    unary_float([alpha, gamma](double x) { return gamma * (x < 0 ? alpha * std::expm1(x) : x); })(context);
}

}  // namespace

const Op selu_op{{
    .name = "Selu",
    .since = {1, 6, 22},
    .types = float_types,
    .attributes = {{"alpha", "float", "1.67326", "scale of the exponential"},
                   {"gamma", "float", "1.0507", "scale of the whole"}},
    .infer = infer_same,
    .reference = selu_reference,
    .help = "gamma * (alpha * (exp(x) - 1)) below zero, gamma * x elsewhere.",
}};

}  // namespace headway
