#include "ops/elementwise.h"

namespace headway {
namespace {

auto make_leaky_relu(const Attributes& attributes) {
    const double alpha = attributes.real("alpha", 0.01F);
    return [alpha](double x) { return x < 0 ? alpha * x : x; };
}

}  // namespace

const Op leaky_relu_op{{
    .name = "LeakyRelu",
    .since = {1, 6, 16},
    .types = float_types,
    .attributes = {{"alpha", "float", "0.01", "slope below zero"}},
    .infer = infer_same,
    .reference = unary_float_with(make_leaky_relu),
    .help = "alpha * x below zero, x elsewhere.",
}};

}  // namespace headway
