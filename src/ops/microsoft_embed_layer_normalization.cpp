#include <algorithm>

#include "ops/doubles.h"
#include "ops/normalization.h"
#include "ops/op.h"

namespace headway {
namespace {

enum EmbedInput : size_t {
    embed_ids,
    embed_segments,
    embed_words,
    embed_places,
    embed_segment_table,
    embed_gamma,
    embed_beta,
    embed_mask,
    embed_position_ids
};
enum EmbedOutput : size_t { embed_y, embed_mask_index, embed_sum };

void check_embed_table(const InferContext& context, size_t input, int64_t hidden) {
    if (context.type(input) != context.type(embed_words) || context.shape(input).rank() != 2 ||
        context.shape(input)[1] != hidden)
        throw UserError("input " + std::to_string(input) + " is no table beside word embeddings of " +
                        context.shape(embed_words).text());
}

void check_embed_ids(const InferContext& context, size_t input) {
    if (context.has(input) && (context.type(input) != ElementType::i32 || context.shape(input) != context.shape(0)))
        throw UserError("input " + std::to_string(input) + " is not i32 of shape " + context.shape(0).text());
}

void infer_embed(InferContext& context) {
    for (size_t i : {embed_words, embed_places, embed_gamma, embed_beta})
        if (!context.has(i)) throw UserError("input " + std::to_string(i) + " is missing");
    const Shape& ids = context.shape(embed_ids);
    if (ids.rank() != 2) throw UserError("its ids of " + ids.text() + " have no two axes");
    if (context.shape(embed_words).rank() != 2 || !float_types.contains(context.type(embed_words)))
        throw UserError("its word embeddings are no table of floating point");
    const int64_t hidden = context.shape(embed_words)[1];
    check_embed_table(context, embed_places, hidden);
    if (context.has(embed_segments) != context.has(embed_segment_table))
        throw UserError("segment_ids and segment_embedding are not used together");
    if (context.has(embed_segment_table)) check_embed_table(context, embed_segment_table, hidden);
    check_embed_ids(context, embed_segments);
    check_embed_ids(context, embed_mask);
    for (size_t i : {embed_gamma, embed_beta})
        if (context.shape(i) != Shape{hidden} || context.type(i) != context.type(embed_words))
            throw UserError("gamma or beta does not fit " + std::to_string(hidden) + " values");
    if (context.has(embed_position_ids)) {
        const Shape& positions = context.shape(embed_position_ids);
        if (context.type(embed_position_ids) != ElementType::i32 || (positions != ids && positions != Shape{1, ids[1]}))
            throw UserError("its position_ids of " + positions.text() + " do not fit ids of " + ids.text());
    } else if (ids[1] > context.shape(embed_places)[0]) {
        throw UserError("a sequence of " + std::to_string(ids[1]) + " is longer than its table of positions");
    }
    const Shape y{ids[0], ids[1], hidden};
    context.set_output(embed_y, context.type(embed_words), y);
    context.set_output(embed_mask_index, ElementType::i32, {ids[0]});
    context.set_output(embed_sum, context.type(embed_words), y);
}

// Adds to each row of `sums` the row of a table that its id names.
void add_embeddings(const Tensor& table, const std::vector<int64_t>& ids, std::vector<double>& sums) {
    const std::vector<double> rows = doubles_of(table);
    const auto hidden = static_cast<size_t>(table.shape()[1]);
    for (size_t row = 0; row * hidden < sums.size(); ++row) {
        const int64_t id = ids[row % ids.size()];
        if (id < 0 || id >= table.shape()[0])
            throw UserError("id " + std::to_string(id) + " is outside a table of " + table.shape().text());
        for (size_t i = 0; i < hidden; ++i) sums[row * hidden + i] += rows[static_cast<size_t>(id) * hidden + i];
    }
}

std::vector<int64_t> position_ids(const ReferenceContext& context) {
    if (context.has(embed_position_ids)) return context.in(embed_position_ids).to_int64();
    std::vector<int64_t> ids(static_cast<size_t>(context.in(embed_ids).shape()[1]));
    for (size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<int64_t>(i);
    return ids;
}

// How many elements of each row of the mask are not 0.
void store_mask_index(const ReferenceContext& context) {
    Tensor& counts = context.out(embed_mask_index);
    if (!context.has(embed_mask)) return;
    const std::vector<int64_t> mask = context.in(embed_mask).to_int64();
    const auto length = static_cast<size_t>(context.in(embed_ids).shape()[1]);
    for (int64_t image = 0; image < counts.elements(); ++image) {
        const auto row = std::span(mask).subspan(static_cast<size_t>(image) * length, length);
        counts.set(image, static_cast<double>(row.size()) - static_cast<double>(std::ranges::count(row, 0)));
    }
}

void embed_reference(const ReferenceContext& context) {
    const auto hidden = static_cast<size_t>(context.in(embed_words).shape()[1]);
    std::vector<double> sums(static_cast<size_t>(context.in(embed_ids).elements()) * hidden);
    add_embeddings(context.in(embed_words), context.in(embed_ids).to_int64(), sums);
    add_embeddings(context.in(embed_places), position_ids(context), sums);
    if (context.has(embed_segments))
        add_embeddings(context.in(embed_segment_table), context.in(embed_segments).to_int64(), sums);
    if (context.wants(embed_sum)) store_doubles(sums, context.out(embed_sum));
    const std::vector<double> gamma = doubles_of(context.in(embed_gamma));
    const std::vector<double> beta = doubles_of(context.in(embed_beta));
    const double epsilon = context.attributes.real("epsilon", 1e-12F);
    for (size_t first = 0; first < sums.size(); first += hidden) {
        const std::span<double> line = std::span(sums).subspan(first, hidden);
        normalize(line, epsilon);
        for (size_t i = 0; i < hidden; ++i) line[i] = line[i] * gamma[i] + beta[i];
    }
    if (context.wants(embed_y)) store_doubles(sums, context.out(embed_y));
    if (context.wants(embed_mask_index)) store_mask_index(context);
}

}  // namespace

const Op embed_layer_normalization_op{{
    .name = "EmbedLayerNormalization",
    .domain = "com.microsoft",
    .since = {1},
    .inputs = {1, 9},
    .outputs = {1, 3},
    .types = {ElementType::i32},
    .attributes = {{"epsilon", "float", "1e-12", "added to the variance"},
                   {"mask_index_type", "int", "", "not read: the second output is computed where it is used"}},
    .infer = infer_embed,
    .reference = embed_reference,
    .help = "LayerNormalization of the sum of word, position and segment embeddings; the second output counts each "
            "row's mask, the third is the sum.",
}};

}  // namespace headway
