#include "ops/arguments.h"
#include "ops/doubles.h"
#include "ops/elementwise.h"

namespace headway {
namespace {

// x is batch x heads x length x size, or batch x length x (heads * size); the first `rotated` of `size` are turned.
struct RotaryForm {
    int64_t batch = 0, heads = 0, length = 0, size = 0, rotated = 0;
    bool packed = false;

    int64_t offset(int64_t image, int64_t head, int64_t row) const {
        return (packed ? (image * length + row) * heads + head : (image * heads + head) * length + row) * size;
    }
};

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
    const bool interleaved = context.attributes.integer("interleaved", 0) != 0;
    const std::vector<double> cosines = doubles_of(context.in(1));
    const std::vector<double> sines = doubles_of(context.in(2));
    const std::vector<int64_t> positions = context.has(3) ? context.in(3).to_int64() : std::vector<int64_t>{};
    std::vector<double> x = doubles_of(context.in(0));
    for (int64_t image = 0; image < form.batch; ++image)
        for (int64_t row = 0; row < form.length; ++row) {
            const int64_t at = image * form.length + row;
            const int64_t entry =
                context.has(3) ? checked_index(positions[static_cast<size_t>(at)], context.in(1).shape()[0]) : at;
            const int64_t table = entry * (form.rotated / 2);
            for (int64_t head = 0; head < form.heads; ++head)
                rotate_pairs(x.data() + form.offset(image, head, row), cosines.data() + table, sines.data() + table,
                             form.rotated / 2, interleaved);
        }
    store_doubles(x, context.out(0));
}

}  // namespace

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
