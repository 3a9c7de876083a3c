// Attention of a merged projection, with weights of floating point (Attention) or of 8-bit integers (QAttention).
#include "ops/doubles.h"
#include "ops/elementwise.h"
#include "ops/microsoft_attention_core.h"
#include "ops/product.h"
#include "ops/quantize.h"
#include "ops/quantized_products.h"

namespace headway {
namespace {

// Projections of the input lie side by side: queries, keys, values.
struct MergedForm {
    Heads q, v;  // keys have the form of the queries
    int64_t width = 0;

    static MergedForm of(const Attributes& attributes, const Shape& x, const Shape& weights) {
        if (x.rank() != 3 || weights.rank() != 2 || weights[0] != x[2])
            throw UserError("weights of " + weights.text() + " do not fit an input of " + x.text());
        std::vector<int64_t> sizes = attributes.integers("qkv_hidden_sizes", std::vector<int64_t>(3, weights[1] / 3));
        if (sizes.size() != 3 || sizes[0] < 0 || sizes[0] != sizes[1] || sizes[0] > weights[1] / 2 ||
            sizes[2] != weights[1] - 2 * sizes[0])
            throw UserError("weights of " + weights.text() + " do not hold queries, keys and values");
        const int64_t heads = head_count(attributes, "num_heads", sizes[0]);
        head_count(attributes, "num_heads", sizes[2]);
        return {{x[0], heads, x[1], sizes[0] / heads}, {x[0], heads, x[1], sizes[2] / heads}, weights[1]};
    }
    Shape y() const { return {q.batch, q.length, v.heads * v.size}; }
    Shape scores(int64_t past) const { return {q.batch, q.heads, q.length, past + q.length}; }
    Shape present(int64_t past) const { return {2, q.batch, q.heads, past + q.length, q.size}; }
};

void refuse_merged_attributes(const Attributes& attributes) {
    for (const char* name : {"do_rotary", "past_present_share_buffer"})
        if (attributes.integer(name, 0) != 0) throw Unsupported("attribute " + std::string(name) + " is not handled");
}

// Outputs 0 and 1; `past` is the input with keys and values that came before.
void infer_merged(InferContext& context, const MergedForm& form, size_t bias, size_t past_input, const ScoreMask& mask,
                  ElementType type) {
    refuse_merged_attributes(context.attributes());
    if (context.has(bias) && (context.shape(bias) != Shape{form.width} || context.type(bias) != type))
        throw UserError("its bias of " + context.shape(bias).text() + " does not fit its weights");
    int64_t past = 0;
    if (context.has(past_input) || context.output_count() > 1) {
        if (form.q.size != form.v.size) throw UserError("a past with keys and values of different sizes");
    }
    if (context.has(past_input)) {
        const Shape& shape = context.shape(past_input);
        past = shape.rank() == 5 ? shape[3] : 0;
        if (shape != Shape{2, form.q.batch, form.q.heads, past, form.q.size} || context.type(past_input) != type)
            throw UserError("its past of " + shape.text() + " does not fit");
    }
    mask.check(context, form.scores(past));
    context.set_output(0, type, form.y());
    context.set_output(1, type, form.present(past));
}

// Attention on projections of all rows.
void attend_merged(const ReferenceContext& context, const MergedForm& form, const std::vector<double>& projected,
                   size_t past_input, ScoreMask mask) {
    const HeadTensor q = split_heads(projected, form.q, form.width, 0);
    HeadTensor k = split_heads(projected, form.q, form.width, form.q.heads * form.q.size);
    HeadTensor v = split_heads(projected, form.v, form.width, 2 * form.q.heads * form.q.size);
    if (context.has(past_input)) {
        const std::vector<double> past = doubles_of(context.in(past_input));
        mask.past = context.in(past_input).shape()[3];
        k = behind_past(past.data(), mask.past, k);
        v = behind_past(past.data() + past.size() / 2, mask.past, v);
    }
    if (context.wants(1)) {
        std::vector<double> present = k.values;
        present.insert(present.end(), v.values.begin(), v.values.end());
        store_doubles(present, context.out(1));
    }
    if (context.wants(0))
        store_doubles(attend(q, k, v, microsoft_attention_scale(context.attributes, form.q.size),
                             mask.read(context, form.scores(mask.past))),
                      context.out(0));
}

void add_merged_bias(const ReferenceContext& context, size_t input, std::vector<double>& projected) {
    if (!context.has(input)) return;
    const std::vector<double> bias = doubles_of(context.in(input));
    for (size_t i = 0; i < projected.size(); ++i) projected[i] += bias[i % bias.size()];
}

constexpr ScoreMask merged_mask{3, 5};
constexpr size_t merged_bias = 2, merged_past = 4;

void infer_merged_attention(InferContext& context) {
    if (context.type(1) != context.type(0)) throw UserError("its weights have another type than its input");
    if (context.has(6)) throw Unsupported("past_sequence_length is not handled");
    infer_merged(context, MergedForm::of(context.attributes(), context.shape(0), context.shape(1)), merged_bias,
                 merged_past, merged_mask, context.type(0));
}

void merged_attention_reference(const ReferenceContext& context) {
    const Shape& x = context.in(0).shape();
    const MergedForm form = MergedForm::of(context.attributes, x, context.in(1).shape());
    std::vector<double> projected = zeros(x[0] * x[1] * form.width);
    multiply(doubles_of(context.in(0)).data(), doubles_of(context.in(1)).data(), projected.data(), x[0] * x[1],
             form.width, x[2]);
    add_merged_bias(context, merged_bias, projected);
    attend_merged(context, form, projected, merged_past, merged_mask);
}

constexpr QuantizedPlace merged_integer_input{0, 6, 3};
constexpr QuantizedPlace merged_integer_weights{1, 7, 4};
constexpr ScoreMask merged_integer_mask{5, SIZE_MAX};
constexpr size_t merged_integer_past = 8;

void infer_integer_attention(InferContext& context) {
    for (size_t i : {2, 3, 4})
        if (!context.has(i)) throw UserError("input " + std::to_string(i) + " is missing");
    const MergedForm form = MergedForm::of(context.attributes(), context.shape(0), context.shape(1));
    check_quantized(context, merged_integer_input, 1);
    check_quantized(context, merged_integer_weights, form.width);
    infer_merged(context, form, merged_bias, merged_integer_past, merged_integer_mask, context.type(3));
}

void integer_attention_reference(const ReferenceContext& context) {
    const Shape& x = context.in(0).shape();
    const MergedForm form = MergedForm::of(context.attributes, x, context.in(1).shape());
    std::vector<double> projected = scaled_quantized_matmul(context, matmul_shapes(x, context.in(1).shape()),
                                                            merged_integer_input, merged_integer_weights);
    add_merged_bias(context, merged_bias, projected);
    attend_merged(context, form, projected, merged_integer_past, merged_integer_mask);
}

std::vector<AttributeDoc> merged_attributes() {
    return {{"mask_filter_value", "float", "-10000.0", "added to the scores of masked keys"},
            {"num_heads", "int", "", "number of heads"},
            {"scale", "float", "1 / sqrt(size of a head)", "factor of the products"},
            {"unidirectional", "int", "0", "1: a query sees no key after its own position"}};
}

std::vector<AttributeDoc> merged_attention_attributes() {
    std::vector<AttributeDoc> docs = merged_attributes();
    docs.push_back({"qkv_hidden_sizes", "ints", "a third each", "values of queries, keys and values in the weights"});
    return docs;
}

}  // namespace

const Op microsoft_attention_op{{
    .name = "Attention",
    .domain = "com.microsoft",
    .since = {1},
    .inputs = {2, 7},
    .outputs = {1, 2},
    .types = float_types,
    .attributes = merged_attention_attributes(),
    .infer = infer_merged_attention,
    .reference = merged_attention_reference,
    .help =
        "Self-attention: the input is projected to queries, keys and values by merged weights and a bias; masks are "
        "lengths, begins and ends, or 0 and 1 for each key.",
}};

const Op qattention_op{{
    .name = "QAttention",
    .domain = "com.microsoft",
    .since = {1},
    .inputs = {2, 9},
    .outputs = {1, 2},
    .types = {ElementType::i8, ElementType::u8},
    .attributes = merged_attributes(),
    .infer = infer_integer_attention,
    .reference = integer_attention_reference,
    .help = "com.microsoft/Attention whose projection is a product of 8-bit integers.",
}};

}  // namespace headway
