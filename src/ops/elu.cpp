#include <cmath>

#include "ops/elementwise.h"

namespace headway {
namespace {

auto make_elu(const Attributes& attributes) {
    const double alpha = attributes.real("alpha", 1.0F);
    return [alpha](double x) { return x < 0 ? alpha * std::expm1(x) : x; };
}

}  // namespace

const Op elu_op{{
    .name = "Elu",
    .since = {1, 6, 22},
    .types = float_types,
    .attributes = {{"alpha", "float", "1.0", "scale below zero"}},
    .infer = infer_same,
    .reference = unary_float_with(make_elu),
    .help = "alpha * (exp(x) - 1) below zero, x elsewhere.",
}};

}  // namespace headway
