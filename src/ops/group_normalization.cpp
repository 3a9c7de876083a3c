#include "ops/arguments.h"
#include "ops/doubles.h"
#include "ops/elementwise.h"
#include "ops/normalization.h"

namespace headway {
namespace {

// Scale and bias have one entry per group before opset 21, one per channel from it on.
int64_t scale_entries(const Attributes& attributes, int version, const Shape& x) {
    return version < 21 ? attributes.integer("num_groups", 0) : x[1];
}

void infer_group_norm(InferContext& context) {
    const Shape& x = context.shape(0);
    const int64_t groups = context.attributes().integer("num_groups", 0);
    if (x.rank() < 2 || groups < 1 || x[1] % groups != 0) throw UserError("num_groups does not divide its channels");
    const Shape wanted{scale_entries(context.attributes(), context.version(), x)};
    if (context.shape(1) != wanted || context.shape(2) != wanted)
        throw UserError("its scale or bias should have shape " + wanted.text());
    infer_same(context);
}

void group_norm_reference(const ReferenceContext& context) {
    const Shape& shape = context.in(0).shape();
    const int64_t groups = context.attributes.integer("num_groups", 1);
    const int64_t entries = scale_entries(context.attributes, context.version, shape);
    const int64_t plane = shape.elements(2, shape.rank());
    const auto length = static_cast<size_t>(shape[1] / groups * plane);
    std::vector<double> x = doubles_of(context.in(0));
    const std::vector<double> scale = doubles_of(context.in(1));
    const std::vector<double> bias = doubles_of(context.in(2));
    const double epsilon = context.attributes.real("epsilon", 1e-5F);
    for (size_t first = 0; first < x.size(); first += length) normalize(std::span(x).subspan(first, length), epsilon);
    for (size_t i = 0; i < x.size(); ++i) {
        const int64_t channel = static_cast<int64_t>(i) / plane % shape[1];
        const auto entry = static_cast<size_t>(channel * entries / shape[1]);
        x[i] = x[i] * scale[entry] + bias[entry];
    }
    store_doubles(x, context.out(0));
}

}  // namespace

const Op group_normalization_op{{
    .name = "GroupNormalization",
    .since = {18, 21},
    .inputs = {3, 3},
    .types = float_types,
    .attributes = {{"epsilon", "float", "1e-05", "added to the variance"},
                   {"num_groups", "int", "", "groups of channels that are normalised together"}},
    .infer = infer_group_norm,
    .reference = group_norm_reference,
    .help = "Each group of channels of each image brought to mean 0 and variance 1, then scaled and shifted.",
}};

}  // namespace headway
