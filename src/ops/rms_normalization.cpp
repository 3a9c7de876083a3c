#include <cmath>

#include "ops/arguments.h"
#include "ops/doubles.h"
#include "ops/elementwise.h"

namespace headway {
namespace {

Shape rms_part(const Attributes& attributes, const Shape& shape) {
    return Shape(std::vector<int64_t>(shape.begin() + axis_of(attributes, -1, shape.rank()), shape.end()));
}

void infer_rms_norm(InferContext& context) {
    const Shape part = rms_part(context.attributes(), context.shape(0));
    if (broadcast(context.shape(1), part) != part) throw UserError("its scale does not fit " + part.text());
    infer_same(context);
}

void rms_norm_reference(const ReferenceContext& context) {
    const Shape part = rms_part(context.attributes, context.in(0).shape());
    const auto length = static_cast<size_t>(part.elements());
    Tensor whole(context.in(1).type(), part);
    strided_copy(context.in(1), 0, broadcast_strides(context.in(1).shape(), part), whole, 0, part.strides(), part);
    const std::vector<double> scale = doubles_of(whole);
    std::vector<double> x = doubles_of(context.in(0));
    const double epsilon = context.attributes.real("epsilon", 1e-5F);
    for (size_t first = 0; first < x.size(); first += length) {
        double squares = 0;
        for (size_t i = 0; i < length; ++i) squares += x[first + i] * x[first + i];
        const double inverse = 1 / std::sqrt(squares / static_cast<double>(length) + epsilon);
        for (size_t i = 0; i < length; ++i) x[first + i] *= inverse * scale[i];
    }
    store_doubles(x, context.out(0));
}

}  // namespace

const Op rms_normalization_op{{
    .name = "RMSNormalization",
    .since = {23},
    .inputs = {2, 2},
    .types = float_types,
    .attributes = {{"axis", "int", "-1", "first axis of the part that is normalised"},
                   {"epsilon", "float", "1e-05", "added to the mean square"},
                   {"stash_type", "int", "1", "not read: the reference computes in double"}},
    .infer = infer_rms_norm,
    .reference = rms_norm_reference,
    .help = "The axes from `axis` on divided by the root of their mean square, then scaled.",
}};

}  // namespace headway
