#include "ops/arguments.h"
#include "ops/random_draws.h"

namespace headway {
namespace {

void infer_bernoulli(InferContext& context) {
    context.set_output(0, type_of(context.attributes(), "dtype", context.type(0), fixed_size_types), context.shape(0));
}

void bernoulli_reference(const ReferenceContext& context) {
    Rng rng = seeded_rng(context.attributes);
    for (int64_t i = 0, count = context.in(0).elements(); i < count; ++i) {
        const double probability = context.in(0).at(i);
        if (!(probability >= 0 && probability <= 1))
            throw UserError("element " + std::to_string(i) + " is no probability: " + std::to_string(probability));
        context.out(0).set(i, rng.chance(probability) ? 1 : 0);
    }
}

}  // namespace

const Op bernoulli_op{{
    .name = "Bernoulli",
    .since = {15, 22},
    .types = float_types,
    .attributes = {{"dtype", "int", "that of the input", "number of the element type"},
                   {"seed", "float", "0", "of the generator"}},
    .infer = infer_bernoulli,
    .reference = bernoulli_reference,
    .help = "1 with the probability that an element is, else 0. By std::mt19937_64: one seed gives the same values "
            "everywhere.",
}};

}  // namespace headway
