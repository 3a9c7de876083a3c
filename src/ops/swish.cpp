#include <cmath>

#include "ops/elementwise.h"

namespace headway {
namespace {

auto make_swish(const Attributes& attributes) {
    const double alpha = attributes.real("alpha", 1.0F);
    return [alpha](double x) { return x / (1 + std::exp(-alpha * x)); };
}

}  // namespace

const Op swish_op{{
    .name = "Swish",
    .since = {24},
    .types = float_types,
    .attributes = {{"alpha", "float", "1.0", "factor of x within the sigmoid"}},
    .infer = infer_same,
    .reference = unary_float_with(make_swish),
    .help = "x * sigmoid(alpha * x) of each element.",
}};

}  // namespace headway
