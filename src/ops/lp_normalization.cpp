#include <cmath>

#include "ops/arguments.h"
#include "ops/elementwise.h"
#include "ops/rows.h"

namespace headway {
namespace {

void infer_lp_normalization(InferContext& context) {
    axis_of(context.attributes(), -1, context.shape(0).rank());
    const int64_t p = context.attributes().integer("p", 2);
    if (p != 1 && p != 2) throw UserError("attribute p is " + std::to_string(p) + ", neither 1 nor 2");
    infer_same(context);
}

void lp_normalization_reference(const ReferenceContext& context) {
    const Shape& shape = context.in(0).shape();
    const Lines lines = Lines::along(shape, static_cast<size_t>(axis_of(context.attributes, -1, shape.rank())));
    const bool squares = context.attributes.integer("p", 2) == 2;
    change_lines(context, lines, [&](std::vector<double>& line) {
        double sum = 0;
        for (double value : line) sum += squares ? value * value : std::fabs(value);
        const double norm = squares ? std::sqrt(sum) : sum;
        // A line of zeros stays one.
        for (double& value : line) value = norm == 0 ? 0 : value / norm;
    });
}

}  // namespace

const Op lp_normalization_op{{
    .name = "LpNormalization",
    .since = {1, 22},
    .types = float_types,
    .attributes = {{"axis", "int", "-1", "the axis of a line"}, {"p", "int", "2", "1 or 2: exponent of the norm"}},
    .infer = infer_lp_normalization,
    .reference = lp_normalization_reference,
    .help = "Each line along an axis divided by its norm.",
}};

}  // namespace headway
