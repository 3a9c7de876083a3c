#include <cmath>

#include "ops/elementwise.h"

namespace headway {
namespace {

auto make_celu(const Attributes& attributes) {
    const double alpha = attributes.real("alpha", 1.0F);
    return [alpha](double x) { return x < 0 ? alpha * std::expm1(x / alpha) : x; };
}

}  // namespace

const Op celu_op{{
    .name = "Celu",
    .since = {12},
    .types = float_types,
    .attributes = {{"alpha", "float", "1.0", "scale and width below zero"}},
    .infer = infer_same,
    .reference = unary_float_with(make_celu),
    .help = "max(0, x) + min(0, alpha * (exp(x / alpha) - 1)).",
}};

}  // namespace headway
