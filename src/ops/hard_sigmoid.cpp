#include <algorithm>

#include "ops/elementwise.h"

namespace headway {
namespace {

auto make_hard_sigmoid(const Attributes& attributes) {
    const double alpha = attributes.real("alpha", 0.2F);
    const double beta = attributes.real("beta", 0.5F);
    return [alpha, beta](double x) { return std::clamp(alpha * x + beta, 0.0, 1.0); };
}

}  // namespace

const Op hard_sigmoid_op{{
    .name = "HardSigmoid",
    .since = {1, 6, 22},
    .types = float_types,
    .attributes = {{"alpha", "float", "0.2", "slope"}, {"beta", "float", "0.5", "offset"}},
    .infer = infer_same,
    .reference = unary_float_with(make_hard_sigmoid),
    .help = "max(0, min(1, alpha * x + beta)).",
}};

}  // namespace headway
