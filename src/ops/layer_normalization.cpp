#include "ops/arguments.h"
#include "ops/doubles.h"
#include "ops/normalization.h"
#include "ops/strided.h"

namespace headway {
namespace {

size_t layer_norm_axis(const Attributes& attributes, const Shape& shape) {
    return static_cast<size_t>(axis_of(attributes, -1, shape.rank()));
}

Shape normalized_part(const Shape& shape, size_t axis) {
    return Shape(std::vector<int64_t>(shape.begin() + static_cast<std::ptrdiff_t>(axis), shape.end()));
}

void infer_layer_norm(InferContext& context) {
    const Shape& x = context.shape(0);
    const size_t axis = layer_norm_axis(context.attributes(), x);
    const Shape part = normalized_part(x, axis);
    for (size_t i = 1; i < 3; ++i)
        if (context.has(i) && broadcast(context.shape(i), part) != part)
            throw UserError("its scale or bias of " + context.shape(i).text() + " does not fit " + part.text());
    if (context.attributes().integer("stash_type", 1) != 1) throw Unsupported("only stash_type 1 is supported");
    Shape moments = x;
    for (size_t i = axis; i < x.rank(); ++i) moments[i] = 1;
    context.set_output(0, context.type(0), x);
    context.set_output(1, ElementType::f32, moments);
    context.set_output(2, ElementType::f32, moments);
}

// The operand repeated to the normalised part.
std::vector<double> layer_norm_operand(const Tensor& tensor, const Shape& part) {
    Tensor whole(tensor.type(), part);
    strided_copy(tensor, 0, broadcast_strides(tensor.shape(), part), whole, 0, part.strides(), part);
    return doubles_of(whole);
}

void layer_norm_reference(const ReferenceContext& context) {
    const Shape& shape = context.in(0).shape();
    const Shape part = normalized_part(shape, layer_norm_axis(context.attributes, shape));
    const auto length = static_cast<size_t>(part.elements());
    std::vector<double> x = doubles_of(context.in(0));
    const std::vector<double> scale = layer_norm_operand(context.in(1), part);
    const std::vector<double> bias =
        context.has(2) ? layer_norm_operand(context.in(2), part) : std::vector<double>(length, 0);
    const double epsilon = context.attributes.real("epsilon", 1e-5F);
    std::vector<double> means;
    std::vector<double> inverses;
    for (size_t first = 0; first < x.size(); first += length) {
        const std::span<double> values = std::span(x).subspan(first, length);
        const Moments moments = normalize(values, epsilon);
        means.push_back(moments.mean);
        inverses.push_back(moments.inverse_deviation);
        for (size_t i = 0; i < length; ++i) values[i] = values[i] * scale[i] + bias[i];
    }
    if (context.wants(0)) store_doubles(x, context.out(0));
    // An empty input has no lines but may have moments.
    means.resize(context.wants(1) ? static_cast<size_t>(context.out(1).elements()) : 0);
    inverses.resize(context.wants(2) ? static_cast<size_t>(context.out(2).elements()) : 0);
    if (context.wants(1)) store_doubles(means, context.out(1));
    if (context.wants(2)) store_doubles(inverses, context.out(2));
}

}  // namespace

// Before opset 17 it is ONNX Runtime's own operator in ONNX's domain, with the same meaning.
const Op layer_normalization_op{{
    .name = "LayerNormalization",
    .since = {1, 17},
    .inputs = {2, 3},
    .outputs = {1, 3},
    .types = float_types,
    .attributes = {{"axis", "int", "-1", "first axis of the part that is normalised"},
                   {"epsilon", "float", "1e-05", "added to the variance"},
                   {"stash_type", "int", "1", "type of the second and third outputs (only 1, f32)"}},
    .infer = infer_layer_norm,
    .reference = layer_norm_reference,
    .help = "The axes from `axis` on brought to mean 0 and variance 1, then scaled and shifted.",
}};

}  // namespace headway
