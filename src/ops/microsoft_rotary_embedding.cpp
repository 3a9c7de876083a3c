#include "ops/doubles.h"
#include "ops/elementwise.h"
#include "ops/rotary.h"

namespace headway {
namespace {

enum MicrosoftRotaryInput : size_t { rotary_x, rotary_positions, rotary_cosines, rotary_sines };

// Where num_heads is not given the tables say how large a head is.
RotaryForm microsoft_rotary_form(const Attributes& attributes, const Shape& x, const Shape& cosines) {
    if (cosines.rank() != 2) throw UserError("its tables of " + cosines.text() + " have no two axes");
    const bool by_tables = x.rank() == 3 && attributes.integer("num_heads", 0) == 0;
    if (!by_tables) return rotary_form(attributes, x);
    if (attributes.integer("rotary_embedding_dim", 0) != 0) throw UserError("num_heads is missing");
    const int64_t size = cosines[1] > x[2] ? 0 : 2 * cosines[1];
    if (size == 0 || x[2] % size != 0)
        throw UserError("tables of " + cosines.text() + " do not fit an input of " + x.text());
    return {x[0], x[2] / size, x[1], size, size, true};
}

void infer_microsoft_rotary(InferContext& context) {
    const RotaryForm form =
        microsoft_rotary_form(context.attributes(), context.shape(rotary_x), context.shape(rotary_cosines));
    for (size_t i : {rotary_cosines, rotary_sines})
        if (context.type(i) != context.type(0) || context.shape(i) != context.shape(rotary_cosines) ||
            context.shape(i)[1] != form.rotated / 2)
            throw UserError("its table of " + context.shape(i).text() + " does not fit");
    const Shape& positions = context.shape(rotary_positions);
    if (context.type(rotary_positions) != ElementType::i64 ||
        (positions != Shape{1} && positions != Shape{form.batch, form.length}))
        throw UserError("its position_ids of " + positions.text() + " are neither one nor one for each row");
    if (context.attributes().integer("is_packed_batching", 0) != 0)
        throw Unsupported("attribute is_packed_batching is not handled");
    infer_same(context);
}

void microsoft_rotary_reference(const ReferenceContext& context) {
    const RotaryForm form =
        microsoft_rotary_form(context.attributes, context.in(rotary_x).shape(), context.in(rotary_cosines).shape());
    const std::vector<int64_t> positions = context.in(rotary_positions).to_int64();
    const bool is_offset = context.in(rotary_positions).shape().rank() == 1;
    std::vector<double> x = doubles_of(context.in(rotary_x));
    RotaryTables(context.in(rotary_cosines), context.in(rotary_sines),
                 context.attributes.integer("interleaved", 0) != 0)
        .turn(x, form, [&](int64_t image, int64_t row) {
            return is_offset ? positions[0] + row : positions[static_cast<size_t>(image * form.length + row)];
        });
    store_doubles(x, context.out(0));
}

}  // namespace

const Op microsoft_rotary_embedding_op{{
    .name = "RotaryEmbedding",
    .domain = "com.microsoft",
    .since = {1},
    .inputs = {4, 4},
    .types = float_types,
    .attributes = {{"interleaved", "int", "0", "1: neighbours make a pair, 0: elements of the two halves"},
                   {"is_packed_batching", "int", "0", "only 0"},
                   {"num_heads", "int", "0", "heads of an input of rank 3; 0: the tables say it"},
                   {"rotary_embedding_dim", "int", "0", "how many elements of a head are turned; 0: all"},
                   {"scale", "float", "1.0", "not read, as in ONNX Runtime"}},
    .infer = infer_microsoft_rotary,
    .reference = microsoft_rotary_reference,
    .help = "RotaryEmbedding with tables by position; position_ids are one for each row, or the first row's alone.",
}};

}  // namespace headway
