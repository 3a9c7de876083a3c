#include "ops/elementwise.h"

namespace headway {
namespace {

auto make_shrink(const Attributes& attributes) {
    const double lambd = attributes.real("lambd", 0.5F);
    const double bias = attributes.real("bias", 0.0F);
    return [lambd, bias](double x) { return x < -lambd ? x + bias : x > lambd ? x - bias : 0.0; };
}

}  // namespace

const Op shrink_op{{
    .name = "Shrink",
    .since = {9},
    .types = float_types,
    .attributes = {{"lambd", "float", "0.5", "half width of the zero band"},
                   {"bias", "float", "0.0", "shift outside it"}},
    .infer = infer_same,
    .reference = unary_float_with(make_shrink),
    .help = "x + bias below -lambd, x - bias above lambd, zero between.",
}};

}  // namespace headway
