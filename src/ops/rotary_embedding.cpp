#include "ops/rotary.h"

#include "ops/arguments.h"
#include "ops/doubles.h"
#include "ops/elementwise.h"

namespace headway {
namespace {

void infer_rotary(InferContext& context) {
    const RotaryForm form = rotary_form(context.attributes(), context.shape(0));
    const bool has_positions = context.has(3);
    for (size_t i = 1; i <= 2; ++i) {
        const Shape& table = context.shape(i);
        if (context.type(i) != context.type(0)) throw UserError("its tables have another type than its input");
        const bool fits = has_positions ? table.rank() == 2 && table[1] == form.rotated / 2
                                        : table == Shape{form.batch, form.length, form.rotated / 2};
        if (!fits) throw UserError("its table of " + table.text() + " does not fit");
    }
    if (context.shape(1) != context.shape(2)) throw UserError("its tables have different shapes");
    if (has_positions && (context.shape(3) != Shape{form.batch, form.length} || context.type(3) != ElementType::i64))
        throw UserError("its position_ids should be i64 of shape " + Shape{form.batch, form.length}.text());
    infer_same(context);
}

// Turns the pairs (x[i * step], x[i * step + distance]).
void rotate_pairs(double* x, const double* cosines, const double* sines, int64_t pairs, bool interleaved) {
    const int64_t step = interleaved ? 2 : 1;
    const int64_t distance = interleaved ? 1 : pairs;
    for (int64_t i = 0; i < pairs; ++i) {
        double& first = x[i * step];
        double& second = x[i * step + distance];
        const double real = cosines[i] * first - sines[i] * second;
        second = sines[i] * first + cosines[i] * second;
        first = real;
    }
}

void rotary_reference(const ReferenceContext& context) {
    const RotaryForm form = rotary_form(context.attributes, context.in(0).shape());
    const std::vector<int64_t> positions = context.has(3) ? context.in(3).to_int64() : std::vector<int64_t>{};
    std::vector<double> x = doubles_of(context.in(0));
    const RotaryTables tables(context.in(1), context.in(2), context.attributes.integer("interleaved", 0) != 0);
    tables.turn(x, form, [&](int64_t image, int64_t row) {
        const int64_t at = image * form.length + row;
        return context.has(3) ? positions[static_cast<size_t>(at)] : at;
    });
    store_doubles(x, context.out(0));
}

}  // namespace

RotaryForm rotary_form(const Attributes& attributes, const Shape& x) {
    RotaryForm form;
    if (x.rank() != 3 && x.rank() != 4) throw UserError("its input of " + x.text() + " has neither rank 3 nor rank 4");
    form.packed = x.rank() == 3;
    form.heads = form.packed ? attributes.integer("num_heads", 0) : x[1];
    if (form.packed && (form.heads < 1 || x[2] % form.heads != 0))
        throw UserError("num_heads does not divide its input of " + x.text());
    form.batch = x[0];
    form.length = form.packed ? x[1] : x[2];
    form.size = form.packed ? x[2] / form.heads : x[3];
    const int64_t wanted = attributes.integer("rotary_embedding_dim", 0);
    form.rotated = wanted == 0 ? form.size : wanted;
    if (form.rotated < 0 || form.rotated > form.size || form.rotated % 2 != 0)
        throw UserError("heads of " + std::to_string(form.size) + " cannot be turned in " +
                        std::to_string(form.rotated) + " elements");
    return form;
}

RotaryTables::RotaryTables(const Tensor& cosines, const Tensor& sines, bool interleaved)
    : cosines_(doubles_of(cosines)),
      sines_(doubles_of(sines)),
      pairs_(cosines.shape().back()),
      interleaved_(interleaved) {}

void RotaryTables::turn(std::vector<double>& x, const RotaryForm& form,
                        const std::function<int64_t(int64_t image, int64_t row)>& position) const {
    const int64_t entries = pairs_ == 0 ? 0 : static_cast<int64_t>(cosines_.size()) / pairs_;
    if (form.rotated == 0) return;
    for (int64_t image = 0; image < form.batch; ++image)
        for (int64_t row = 0; row < form.length; ++row) {
            const int64_t table = checked_index(position(image, row), entries) * pairs_;
            for (int64_t head = 0; head < form.heads; ++head)
                rotate_pairs(x.data() + form.offset(image, head, row), cosines_.data() + table, sines_.data() + table,
                             form.rotated / 2, interleaved_);
        }
}

const Op rotary_embedding_op{{
    .name = "RotaryEmbedding",
    .since = {23},
    .inputs = {3, 4},
    .types = float_types,
    .attributes = {{"interleaved", "int", "0", "1: neighbours make a pair, 0: elements of the two halves"},
                   {"num_heads", "int", "", "heads of an input of rank 3"},
                   {"rotary_embedding_dim", "int", "0", "how many elements of a head are turned; 0: all"}},
    .infer = infer_rotary,
    .reference = rotary_reference,
    .help = "Pairs of elements of each head turned by the angles of their position, whose cosines and sines are given.",
}};

}  // namespace headway
