#include "ops/arguments.h"
#include "ops/doubles.h"
#include "ops/normalization.h"

namespace headway {
namespace {

void infer_instance_norm(InferContext& context) {
    const Shape& x = context.shape(0);
    if (x.rank() < 3) throw UserError("its input has rank " + std::to_string(x.rank()) + ", less than 3");
    if (context.shape(1) != Shape{x[1]} || context.shape(2) != Shape{x[1]})
        throw UserError("its scale or bias does not have one entry per channel");
    context.set_output(0, context.type(0), x);
}

void instance_norm_reference(const ReferenceContext& context) {
    const Shape& shape = context.in(0).shape();
    const auto plane = static_cast<size_t>(shape.elements(2, shape.rank()));
    std::vector<double> x = doubles_of(context.in(0));
    const std::vector<double> scale = doubles_of(context.in(1));
    const std::vector<double> bias = doubles_of(context.in(2));
    const double epsilon = context.attributes.real("epsilon", 1e-5F);
    for (size_t first = 0, channel = 0; first < x.size(); first += plane, channel = (channel + 1) % scale.size()) {
        const std::span<double> values = std::span(x).subspan(first, plane);
        normalize(values, epsilon);
        for (double& value : values) value = value * scale[channel] + bias[channel];
    }
    store_doubles(x, context.out(0));
}

}  // namespace

const Op instance_normalization_op{{
    .name = "InstanceNormalization",
    .since = {1, 6, 22},
    .inputs = {3, 3},
    .types = float_types,
    .attributes = {{"epsilon", "float", "1e-05", "added to the variance"}},
    .infer = infer_instance_norm,
    .reference = instance_norm_reference,
    .help = "Each channel of each image brought to mean 0 and variance 1, then scaled and shifted.",
}};

}  // namespace headway
