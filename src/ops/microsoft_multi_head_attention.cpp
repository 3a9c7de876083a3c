#include "ops/doubles.h"
#include "ops/elementwise.h"
#include "ops/microsoft_attention_core.h"

namespace headway {
namespace {

enum MultiHeadInput : size_t {
    multi_head_q,
    multi_head_k,
    multi_head_v,
    multi_head_bias,
    multi_head_mask,
    multi_head_score_bias,
    multi_head_past_k,
    multi_head_past_v,
    multi_head_past_length
};
enum MultiHeadOutput : size_t { multi_head_y, multi_head_present_k, multi_head_present_v, multi_head_weights };

struct MultiHeadForm {
    Heads q, k, v;  // k and v without what came before
    int64_t past = 0;
    bool split = false;  // keys and values are heads already: those of another sequence, computed before

    Shape scores() const { return {q.batch, q.heads, q.length, past + k.length}; }
    Shape present(const Heads& form) const { return {form.batch, form.heads, past + form.length, form.size}; }

    static MultiHeadForm of(const Attributes& attributes, const Shape& q, const Shape& k, const Shape& v,
                            int64_t past) {
        if (q.rank() != 3 || k.rank() != v.rank() || (k.rank() != 3 && k.rank() != 4))
            throw UserError("queries of " + q.text() + ", keys of " + k.text() + " and values of " + v.text() +
                            " do not fit");
        const int64_t heads = head_count(attributes, "num_heads", q[2]);
        MultiHeadForm form{{q[0], heads, q[1], q[2] / heads}, {}, {}, past, k.rank() == 4};
        if (form.split) {
            form.k = {k[0], k[1], k[2], k[3]};
            form.v = {v[0], v[1], v[2], v[3]};
        } else {
            head_count(attributes, "num_heads", k[2]);
            head_count(attributes, "num_heads", v[2]);
            form.k = {k[0], heads, k[1], k[2] / heads};
            form.v = {v[0], heads, v[1], v[2] / heads};
        }
        require_fitting_heads(form.q, form.k, form.v);
        if (form.k.heads != heads) throw UserError("its keys have not " + std::to_string(heads) + " heads");
        return form;
    }
};

constexpr ScoreMask multi_head_score_mask{multi_head_mask, multi_head_score_bias};

void check_multi_head_past(const InferContext& context, const MultiHeadForm& form) {
    if (context.has(multi_head_past_k) != context.has(multi_head_past_v))
        throw UserError("past_key and past_value are not used together");
    if (!context.has(multi_head_past_k)) return;
    if (form.split) throw Unsupported("a past beside keys that are heads already is not handled");
    const Shape key{form.k.batch, form.k.heads, form.past, form.k.size};
    const Shape value{form.v.batch, form.v.heads, form.past, form.v.size};
    if (context.shape(multi_head_past_k) != key || context.shape(multi_head_past_v) != value ||
        context.type(multi_head_past_k) != context.type(0) || context.type(multi_head_past_v) != context.type(0))
        throw UserError("past_key and past_value should have shapes " + key.text() + " and " + value.text() +
                        " and the type of the queries");
}

int64_t multi_head_past(const Shape& past_key) {
    if (past_key.rank() != 4) throw UserError("its past_key of " + past_key.text() + " has no four axes");
    return past_key[2];
}

void infer_multi_head(InferContext& context) {
    if (!context.has(multi_head_k) || !context.has(multi_head_v))
        throw Unsupported("queries, keys and values packed into one tensor are not handled");
    for (size_t i = multi_head_past_length; i < context.input_count(); ++i)
        if (context.has(i)) throw Unsupported("input " + std::to_string(i) + " is not handled");
    const int64_t past = context.has(multi_head_past_k) ? multi_head_past(context.shape(multi_head_past_k)) : 0;
    const MultiHeadForm form = MultiHeadForm::of(context.attributes(), context.shape(multi_head_q),
                                                 context.shape(multi_head_k), context.shape(multi_head_v), past);
    for (size_t i : {multi_head_k, multi_head_v})
        if (context.type(i) != context.type(0)) throw UserError("its inputs have different types");
    const int64_t width = form.q.heads * (2 * form.q.size + form.v.size);
    if (context.has(multi_head_bias) &&
        (context.shape(multi_head_bias) != Shape{width} || context.type(multi_head_bias) != context.type(0)))
        throw UserError("its bias of " + context.shape(multi_head_bias).text() + " does not fit " +
                        std::to_string(width) + " values");
    check_multi_head_past(context, form);
    multi_head_score_mask.check(context, form.scores());
    context.set_output(multi_head_y, context.type(0), {form.q.batch, form.q.length, form.q.heads * form.v.size});
    context.set_output(multi_head_present_k, context.type(0), form.present(form.k));
    context.set_output(multi_head_present_v, context.type(0), form.present(form.v));
    context.set_output(multi_head_weights, context.type(0), form.scores());
}

// Heads of one input, with its part of the bias, which starts at `first`.
HeadTensor multi_head_operand(const ReferenceContext& context, size_t input, const Heads& form, int64_t first) {
    std::vector<double> rows = doubles_of(context.in(input));
    const int64_t width = form.heads * form.size;
    if (context.has(multi_head_bias)) {
        const std::vector<double> bias = doubles_of(context.in(multi_head_bias));
        for (size_t i = 0; i < rows.size(); ++i)
            rows[i] += bias[static_cast<size_t>(first) + i % static_cast<size_t>(width)];
    }
    return split_heads(rows, form, width, 0);
}

void multi_head_reference(const ReferenceContext& context) {
    const bool has_past = context.has(multi_head_past_k);
    const MultiHeadForm form =
        MultiHeadForm::of(context.attributes, context.in(multi_head_q).shape(), context.in(multi_head_k).shape(),
                          context.in(multi_head_v).shape(), has_past ? context.in(multi_head_past_k).shape()[2] : 0);
    const int64_t width = form.q.heads * form.q.size;
    const HeadTensor q = multi_head_operand(context, multi_head_q, form.q, 0);
    HeadTensor k{form.k, {}};
    HeadTensor v{form.v, {}};
    if (form.split) {
        k.values = doubles_of(context.in(multi_head_k));
        v.values = doubles_of(context.in(multi_head_v));
    } else {
        k = multi_head_operand(context, multi_head_k, form.k, width);
        v = multi_head_operand(context, multi_head_v, form.v, 2 * width);
    }
    if (has_past) {
        k = behind_past(doubles_of(context.in(multi_head_past_k)).data(), form.past, k);
        v = behind_past(doubles_of(context.in(multi_head_past_v)).data(), form.past, v);
    }
    if (context.wants(multi_head_present_k)) store_doubles(k.values, context.out(multi_head_present_k));
    if (context.wants(multi_head_present_v)) store_doubles(v.values, context.out(multi_head_present_v));
    ScoreMask mask = multi_head_score_mask;
    mask.past = form.past;
    std::vector<double> weights;
    const std::vector<double> y =
        attend(q, k, v, microsoft_attention_scale(context.attributes, form.q.size), mask.read(context, form.scores()),
               context.wants(multi_head_weights) ? &weights : nullptr);
    if (context.wants(multi_head_y)) store_doubles(y, context.out(multi_head_y));
    if (context.wants(multi_head_weights)) store_doubles(weights, context.out(multi_head_weights));
}

}  // namespace

const Op multi_head_attention_op{{
    .name = "MultiHeadAttention",
    .domain = "com.microsoft",
    .since = {1},
    .inputs = {1, 10},
    .outputs = {1, 4},
    .types = float_types,
    .attributes = {{"mask_filter_value", "float", "-10000.0", "added to the scores of masked keys"},
                   {"num_heads", "int", "", "number of heads"},
                   {"scale", "float", "1 / sqrt(size of a head)", "factor of the products"},
                   {"unidirectional", "int", "0", "1: a query sees no key after its own position"}},
    .infer = infer_multi_head,
    .reference = multi_head_reference,
    .help = "Attention of projected queries, keys and values, with the bias of the projection, masks, and keys and "
            "values that came before. Not for operands packed into one tensor.",
}};

}  // namespace headway
