// RandomUniform, RandomNormal and their Like forms.
#include "ops/arguments.h"
#include "ops/random_draws.h"

namespace headway {
namespace {

Shape random_shape(const Attributes& attributes) {
    if (!attributes.has("shape")) throw UserError("has no shape");
    return Shape(attributes.integers("shape"));
}

void infer_random(InferContext& context) {
    context.set_output(0, type_of(context.attributes(), "dtype", ElementType::f32, float_types),
                       random_shape(context.attributes()));
}

// Without dtype the type of the input, which may then be nothing but floating-point.
void infer_random_like(InferContext& context) {
    context.set_output(0, type_of(context.attributes(), "dtype", context.type(0), float_types), context.shape(0));
}

template <class Draw>
void fill_random(const ReferenceContext& context, Draw&& draw) {
    Rng rng = seeded_rng(context.attributes);
    for (int64_t i = 0, count = context.out(0).elements(); i < count; ++i) context.out(0).set(i, draw(rng));
}

void random_uniform_reference(const ReferenceContext& context) {
    const double low = context.attributes.real("low", 0);
    const double high = context.attributes.real("high", 1);
    fill_random(context, [&](Rng& rng) { return low + (high - low) * rng.unit(); });
}

void random_normal_reference(const ReferenceContext& context) {
    const double mean = context.attributes.real("mean", 0);
    const double scale = context.attributes.real("scale", 1);
    fill_random(context, [&](Rng& rng) { return mean + scale * normal_draw(rng); });
}

const AttributeDoc random_dtype_doc{"dtype", "int", "1", "number of the element type"};
const AttributeDoc random_like_dtype_doc{"dtype", "int", "that of the input", "number of the element type"};
const AttributeDoc random_seed_doc{"seed", "float", "0", "of the generator"};
const AttributeDoc random_shape_doc{"shape", "ints", "", "of the output"};
const AttributeDoc random_low_doc{"low", "float", "0.0", "lower bound"};
const AttributeDoc random_high_doc{"high", "float", "1.0", "upper bound"};
const AttributeDoc random_mean_doc{"mean", "float", "0.0", "mean"};
const AttributeDoc random_scale_doc{"scale", "float", "1.0", "standard deviation"};
constexpr const char* random_generator_help = " By std::mt19937_64: one seed gives the same values everywhere.";

}  // namespace

const Op random_uniform_op{{
    .name = "RandomUniform",
    .since = {1, 22},
    .inputs = {0, 0},
    .attributes = {random_dtype_doc, random_high_doc, random_low_doc, random_seed_doc, random_shape_doc},
    .infer = infer_random,
    .reference = random_uniform_reference,
    .help = std::string("Uniform random numbers.") + random_generator_help,
}};

const Op random_normal_op{{
    .name = "RandomNormal",
    .since = {1, 22},
    .inputs = {0, 0},
    .attributes = {random_dtype_doc, random_mean_doc, random_scale_doc, random_seed_doc, random_shape_doc},
    .infer = infer_random,
    .reference = random_normal_reference,
    .help = std::string("Normal random numbers.") + random_generator_help,
}};

const Op random_uniform_like_op{{
    .name = "RandomUniformLike",
    .since = {1, 22},
    .types = movable_types,
    .attributes = {random_like_dtype_doc, random_high_doc, random_low_doc, random_seed_doc},
    .infer = infer_random_like,
    .reference = random_uniform_reference,
    .help = std::string("Uniform random numbers in the shape of the input.") + random_generator_help,
}};

const Op random_normal_like_op{{
    .name = "RandomNormalLike",
    .since = {1, 22},
    .types = movable_types,
    .attributes = {random_like_dtype_doc, random_mean_doc, random_scale_doc, random_seed_doc},
    .infer = infer_random_like,
    .reference = random_normal_reference,
    .help = std::string("Normal random numbers in the shape of the input.") + random_generator_help,
}};

}  // namespace headway
