#include "ops/arguments.h"
#include "ops/doubles.h"
#include "ops/elementwise.h"
#include "ops/normalization.h"

namespace headway {
namespace {

Shape rms_part(const Attributes& attributes, const Shape& shape) {
    return Shape(std::vector<int64_t>(shape.begin() + axis_of(attributes, -1, shape.rank()), shape.end()));
}

void infer_rms_norm(InferContext& context) {
    const Shape& x = context.shape(0);
    const Shape part = rms_part(context.attributes(), x);
    if (broadcast(context.shape(1), part) != part) throw UserError("its scale does not fit " + part.text());
    Shape factors = x;
    for (size_t i = x.rank() - part.rank(); i < x.rank(); ++i) factors[i] = 1;
    infer_same(context);
    context.set_output(1, ElementType::f32, factors);
}

void rms_norm_reference(const ReferenceContext& context) {
    const Shape part = rms_part(context.attributes, context.in(0).shape());
    const auto length = static_cast<size_t>(part.elements());
    Tensor whole(context.in(1).type(), part);
    strided_copy(context.in(1), 0, broadcast_strides(context.in(1).shape(), part), whole, 0, part.strides(), part);
    const std::vector<double> scale = doubles_of(whole);
    std::vector<double> x = doubles_of(context.in(0));
    std::vector<double> factors;
    const double epsilon = context.attributes.real("epsilon", 1e-5F);
    for (size_t first = 0; first < x.size(); first += length) {
        const std::span<double> values = std::span(x).subspan(first, length);
        factors.push_back(normalize_root_mean_square(values, epsilon));
        for (size_t i = 0; i < length; ++i) values[i] *= scale[i];
    }
    if (context.wants(0)) store_doubles(x, context.out(0));
    // An empty input has no lines but may have factors.
    if (context.wants(1)) factors.resize(static_cast<size_t>(context.out(1).elements()));
    if (context.wants(1)) store_doubles(factors, context.out(1));
}

std::vector<AttributeDoc> rms_norm_attributes() {
    return {{"axis", "int", "-1", "first axis of the part that is normalised"},
            {"epsilon", "float", "1e-05", "added to the mean square"},
            {"stash_type", "int", "1", "not read: the reference computes in double"}};
}

Op::Fields simplified_fields(const char* domain, const char* help) {
    return {
        .name = "SimplifiedLayerNormalization",
        .domain = domain,
        .since = {1},
        .inputs = {2, 2},
        .outputs = {1, 2},
        .types = float_types,
        .attributes = rms_norm_attributes(),
        .infer = infer_rms_norm,
        .reference = rms_norm_reference,
        .help = help,
    };
}

}  // namespace

const Op rms_normalization_op{{
    .name = "RMSNormalization",
    .since = {23},
    .inputs = {2, 2},
    .types = float_types,
    .attributes = rms_norm_attributes(),
    .infer = infer_rms_norm,
    .reference = rms_norm_reference,
    .help = "The axes from `axis` on divided by the root of their mean square, then scaled.",
}};

// ONNX Runtime's own, which it puts into ONNX's domain. Exporters write both domains.
const Op simplified_layer_normalization_op{simplified_fields(
    "", "RMSNormalization by the name that ONNX Runtime gives it; the second output is 1 / the root of each part.")};
const Op microsoft_simplified_layer_normalization_op{
    simplified_fields("com.microsoft", "SimplifiedLayerNormalization in the domain of its maker.")};

}  // namespace headway
