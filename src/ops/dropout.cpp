#include "ops/arguments.h"
#include "ops/doubles.h"
#include "ops/random_draws.h"

namespace headway {
namespace {

// Only at training are elements dropped: before opset 7 unless is_test is set, from 12 on when an input says so.
bool dropout_trains(const ReferenceContext& context) {
    if (context.version < 7) return context.attributes.integer("is_test", 0) == 0;
    return context.has(2) && scalar_of(context.in(2), "training_mode") != 0;
}

double dropout_ratio(const ReferenceContext& context) {
    if (context.version < 12) return context.attributes.real("ratio", 0.5F);
    return context.has(1) ? scalar_of(context.in(1), "ratio") : 0.5;
}

void infer_dropout(InferContext& context) {
    context.set_output(0, context.type(0), context.shape(0));
    context.set_output(1, context.version() < 10 ? context.type(0) : ElementType::boolean, context.shape(0));
}

void dropout_reference(const ReferenceContext& context) {
    const double ratio = dropout_trains(context) ? dropout_ratio(context) : 0;
    if (!(ratio >= 0 && ratio < 1)) throw UserError("its ratio is not in [0, 1)");
    Rng rng = seeded_rng(context.attributes);
    std::vector<double> x = doubles_of(context.in(0));
    std::vector<double> kept(x.size(), 1);
    if (ratio > 0)
        for (size_t i = 0; i < x.size(); ++i) {
            kept[i] = rng.chance(ratio) ? 0 : 1;
            x[i] = kept[i] != 0 ? x[i] / (1 - ratio) : 0;
        }
    if (context.wants(0)) store_doubles(x, context.out(0));
    if (!context.wants(1)) return;
    for (size_t i = 0; i < kept.size(); ++i) context.out(1).set(static_cast<int64_t>(i), kept[i]);
}

}  // namespace

const Op dropout_op{{
    .name = "Dropout",
    .since = {1, 6, 7, 10, 12, 13, 22},
    .inputs = {1, 3},
    .outputs = {1, 2},
    .types = float_types,
    .attributes = {{"is_test", "int", "0", "1: inference (before opset 7)"},
                   {"ratio", "float", "0.5", "share of the elements that training drops (an input from opset 12)"},
                   {"seed", "int", "0", "of the generator"}},
    .infer = infer_dropout,
    .reference = dropout_reference,
    .help = "Its input, as at inference; the mask is all true. At training elements are dropped at random and the rest "
            "grows by 1 / (1 - ratio), by std::mt19937_64: one seed gives the same values everywhere.",
}};

}  // namespace headway
