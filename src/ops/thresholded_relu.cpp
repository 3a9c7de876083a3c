#include "ops/elementwise.h"

namespace headway {
namespace {

auto make_thresholded_relu(const Attributes& attributes) {
    const double alpha = attributes.real("alpha", 1.0F);
    return [alpha](double x) { return x <= alpha ? 0.0 : x; };
}

}  // namespace

const Op thresholded_relu_op{{
    .name = "ThresholdedRelu",
    .since = {10, 22},
    .types = float_types,
    .attributes = {{"alpha", "float", "1.0", "threshold"}},
    .infer = infer_same,
    .reference = unary_float_with(make_thresholded_relu),
    .help = "x above alpha, zero elsewhere; NaN stays NaN.",
}};

}  // namespace headway
