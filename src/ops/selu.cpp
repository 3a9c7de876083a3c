#include <cmath>

#include "ops/elementwise.h"

namespace headway {
namespace {

auto make_selu(const Attributes& attributes) {
    const double alpha = attributes.real("alpha", 1.67326319217681884765625F);
    const double gamma = attributes.real("gamma", 1.05070102214813232421875F);
    return [alpha, gamma](double x) { return gamma * (x < 0 ? alpha * std::expm1(x) : x); };
}

}  // namespace

const Op selu_op{{
    .name = "Selu",
    .since = {6, 22},
    .types = float_types,
    .attributes = {{"alpha", "float", "1.67326", "scale of the exponential"},
                   {"gamma", "float", "1.0507", "scale of the whole"}},
    .infer = infer_same,
    .reference = unary_float_with(make_selu),
    .help = "gamma * (alpha * (exp(x) - 1)) below zero, gamma * x elsewhere.",
}};

}  // namespace headway
