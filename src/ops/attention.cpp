#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "ops/attention_core.h"
#include "ops/doubles.h"
#include "ops/product.h"
#include "ops/strided.h"

namespace headway {
namespace {

constexpr double minus_infinity = -std::numeric_limits<double>::infinity();
enum AttentionInput : size_t { input_q, input_k, input_v, input_mask, input_past_key, input_past_value, input_lengths };
enum AttentionOutput : size_t { output_y, output_key, output_value, output_scores };

// What qk_matmul_output shows.
enum ScoreStage : int64_t { scores_product, scores_capped, scores_masked, scores_softmax };

// Rank 4 says how many heads there are; of rank 3 (batch x length x heads * size) an attribute says it.
Heads attention_heads(const Shape& shape, const Attributes& attributes, const char* count) {
    const int64_t heads = attributes.integer(count, shape.rank() == 4 ? shape[1] : 0);
    if (shape.rank() == 4 && heads == shape[1]) return {shape[0], heads, shape[2], shape[3]};
    if (shape.rank() != 3 || heads < 1 || shape[2] % heads != 0)
        throw UserError("attribute " + std::string(count) + " does not fit an input of " + shape.text());
    return {shape[0], heads, shape[1], shape[2] / heads};
}

struct AttentionForm {
    Heads q, k, v;  // k and v with what came before
    int64_t past = 0;
    bool packed = false;  // rank 3

    Shape y() const {
        if (packed) return {q.batch, q.length, q.heads * v.size};
        return {q.batch, q.heads, q.length, v.size};
    }
    Shape scores() const { return {q.batch, q.heads, q.length, k.length}; }
};

AttentionForm attention_form(const Attributes& attributes, const Shape& q, const Shape& k, const Shape& v,
                             int64_t past) {
    if (q.rank() != k.rank() || q.rank() != v.rank()) throw UserError("its inputs have different ranks");
    AttentionForm form{attention_heads(q, attributes, "q_num_heads"), attention_heads(k, attributes, "kv_num_heads"),
                       attention_heads(v, attributes, "kv_num_heads"), past, q.rank() == 3};
    require_fitting_heads(form.q, form.k, form.v);
    form.k.length += past;
    form.v.length += past;
    return form;
}

void check_attention_attributes(const Attributes& attributes, int64_t size) {
    attention_scale(attributes, size);
    softmax_precision(attributes, ElementType::f32);
    const int64_t stage = attributes.integer("qk_matmul_output_mode", scores_product);
    if (stage < scores_product || stage > scores_softmax)
        throw UserError("attribute qk_matmul_output_mode is not 0, 1, 2 or 3");
    if (attributes.real("softcap", 0) < 0) throw UserError("attribute softcap is negative");
}

// The shape of the scores that the mask covers. From opset 24 it may end early: keys beyond it are masked.
Shape masked_scores(const AttentionForm& form, int version, const Shape& mask) {
    Shape shape = form.scores();
    if (version < 24 || mask.rank() == 0) return shape;
    if (mask.back() == 1 && form.k.length != 1) throw Unsupported("a mask of one key may mean that key or all of them");
    shape[3] = std::min(mask.back(), form.k.length);
    return shape;
}

void check_mask(const InferContext& context, const AttentionForm& form) {
    const ElementType type = context.type(input_mask);
    if (type != ElementType::boolean && !is_float(type))
        throw Unsupported("a mask of " + std::string(to_string(type)) + " is not handled");
    const Shape& mask = context.shape(input_mask);
    const Shape scores = masked_scores(form, context.version(), mask);
    if (mask.rank() > 4 || broadcast(mask, scores) != scores)
        throw UserError("its mask of " + mask.text() + " does not fit scores of " + form.scores().text());
}

void check_past(const InferContext& context, const AttentionForm& form) {
    if (context.has(input_past_key) != context.has(input_past_value))
        throw UserError("past_key and past_value are not used together");
    if (!context.has(input_past_key)) return;
    const Shape key{form.q.batch, form.k.heads, form.past, form.k.size};
    const Shape value{form.q.batch, form.v.heads, form.past, form.v.size};
    if (context.shape(input_past_key) != key || context.shape(input_past_value) != value)
        throw UserError("past_key and past_value should have shapes " + key.text() + " and " + value.text());
    if (context.type(input_past_key) != context.type(input_k) ||
        context.type(input_past_value) != context.type(input_v))
        throw UserError("past_key or past_value has another type than what follows it");
}

// How many keys of each image count (opset 24).
void check_lengths(const InferContext& context, const AttentionForm& form) {
    if (context.version() < 24 || context.has(input_past_key))
        throw UserError("nonpad_kv_seqlen is given before opset 24 or together with past_key");
    if (context.shape(input_lengths) != Shape{form.q.batch} || context.type(input_lengths) != ElementType::i64)
        throw UserError("nonpad_kv_seqlen should hold " + std::to_string(form.q.batch) + " i64");
}

void infer_attention(InferContext& context) {
    const bool has_past = context.has(input_past_key);
    if (has_past && context.shape(input_past_key).rank() != 4) throw UserError("its past_key is not of rank 4");
    const AttentionForm form = attention_form(context.attributes(), context.shape(input_q), context.shape(input_k),
                                              context.shape(input_v), has_past ? context.shape(input_past_key)[2] : 0);
    check_attention_attributes(context.attributes(), form.q.size);
    if (context.type(input_k) != context.type(input_q)) throw UserError("its keys have another type than its queries");
    if (!is_float(context.type(input_v))) throw UserError("its values are not of a floating-point type");
    check_past(context, form);
    if (context.has(input_mask)) check_mask(context, form);
    if (context.has(input_lengths)) check_lengths(context, form);
    context.set_output(output_y, context.type(input_q), form.y());
    context.set_output(output_key, context.type(input_k), form.k.shape());
    context.set_output(output_value, context.type(input_v), form.v.shape());
    context.set_output(output_scores, context.type(input_q), form.scores());
}

// to[batch][head][past + row] = from[batch][head][row], or from[batch][row][head] where it is packed.
void place_heads(const Tensor& from, bool packed, const Heads& form, int64_t past, int64_t count,
                 std::vector<double>& to) {
    const std::vector<double> values = doubles_of(from);
    const double* next = values.data();
    const int64_t outer = packed ? count : form.heads;
    const int64_t inner = packed ? form.heads : count;
    for (int64_t b = 0; b < form.batch; ++b)
        for (int64_t i = 0; i < outer; ++i)
            for (int64_t j = 0; j < inner; ++j, next += form.size) {
                const int64_t head = packed ? j : i;
                const int64_t row = past + (packed ? i : j);
                std::copy_n(next, form.size, to.data() + ((b * form.heads + head) * form.length + row) * form.size);
            }
}

std::vector<double> read_heads(const ReferenceContext& context, const AttentionForm& form, const Heads& heads,
                               size_t input, std::optional<size_t> past_input) {
    std::vector<double> values = zeros(heads.shape().elements());
    const bool has_past = past_input && context.has(*past_input);
    const int64_t past = has_past ? form.past : 0;
    if (has_past) place_heads(context.in(*past_input), false, heads, 0, past, values);
    place_heads(context.in(input), form.packed, heads, past, heads.length - past, values);
    return values;
}

// What is added to the scores: 0 or -infinity by a boolean mask, by causality and by lengths, or a mask's own numbers.
class AttentionBias {
public:
    AttentionBias(const ReferenceContext& context, const AttentionForm& form)
        : form_(form), is_causal_(context.attributes.integer("is_causal", 0) != 0) {
        if (context.has(input_lengths)) lengths_ = context.in(input_lengths).to_int64();
        if (!context.has(input_mask)) return;
        const Tensor& mask = context.in(input_mask);
        mask_ = doubles_of(mask);
        if (mask.type() == ElementType::boolean)
            for (double& value : mask_) value = value != 0 ? 0 : minus_infinity;
        const Shape covered = masked_scores(form, context.version, mask.shape());
        strides_ = broadcast_strides(mask.shape(), covered);
        covered_ = covered.back();
    }

    void add(int64_t image, int64_t head, std::vector<double>& scores) const {
        for (int64_t row = 0; row < form_.q.length; ++row)
            for (int64_t key = 0; key < form_.k.length; ++key)
                scores[static_cast<size_t>(row * form_.k.length + key)] += at(image, head, row, key);
    }

private:
    double at(int64_t image, int64_t head, int64_t row, int64_t key) const {
        const bool is_later = is_causal_ && key > row + form_.past;
        const bool is_padding = !lengths_.empty() && key >= lengths_[static_cast<size_t>(image)];
        if (strides_.empty()) return is_later || is_padding ? minus_infinity : 0;
        if (key >= covered_) return minus_infinity;
        const int64_t index = image * strides_[0] + head * strides_[1] + row * strides_[2] + key * strides_[3];
        return mask_[static_cast<size_t>(index)] + (is_later || is_padding ? minus_infinity : 0);
    }

    const AttentionForm& form_;
    const bool is_causal_;
    std::vector<int64_t> lengths_;
    std::vector<double> mask_;
    Strides strides_;  // of the mask along the scores' axes; empty without a mask
    int64_t covered_ = 0;
};

// The output is packed as the inputs are.
void store_heads(const std::vector<double>& heads, const AttentionForm& form, Tensor& y) {
    if (!form.packed) return store_doubles(heads, y);
    std::vector<double> values(heads.size());
    const double* next = heads.data();
    for (int64_t b = 0; b < form.q.batch; ++b)
        for (int64_t head = 0; head < form.q.heads; ++head)
            for (int64_t row = 0; row < form.q.length; ++row, next += form.v.size)
                std::copy_n(next, form.v.size,
                            values.data() + ((b * form.q.length + row) * form.q.heads + head) * form.v.size);
    store_doubles(values, y);
}

void attention_reference(const ReferenceContext& context) {
    const Attributes& attributes = context.attributes;
    const AttentionForm form = attention_form(attributes, context.in(input_q).shape(), context.in(input_k).shape(),
                                              context.in(input_v).shape(),
                                              context.has(input_past_key) ? context.in(input_past_key).shape()[2] : 0);
    const std::vector<double> q = read_heads(context, form, form.q, input_q, std::nullopt);
    const std::vector<double> k = read_heads(context, form, form.k, input_k, input_past_key);
    const std::vector<double> v = read_heads(context, form, form.v, input_v, input_past_value);
    if (context.wants(output_key)) store_doubles(k, context.out(output_key));
    if (context.wants(output_value)) store_doubles(v, context.out(output_value));

    const AttentionBias bias(context, form);
    const double scale = attention_scale(attributes, form.q.size);
    const double cap = attributes.real("softcap", 0);
    const int64_t shown_stage = attributes.integer("qk_matmul_output_mode", scores_product);
    std::vector<double> shown;
    std::vector<double> scores = zeros(form.q.length * form.k.length);  // of one head
    std::vector<double> y = zeros(form.q.batch * form.q.heads * form.q.length * form.v.size);
    for (int64_t pair = 0; pair < form.q.batch * form.q.heads; ++pair) {
        const auto show = [&](ScoreStage stage) {
            if (stage == shown_stage && context.wants(output_scores))
                shown.insert(shown.end(), scores.begin(), scores.end());
        };
        const int64_t kv_pair = pair * form.k.heads / form.q.heads;
        attention_scores(q.data() + pair * form.q.head_elements(), form.q, k.data() + kv_pair * form.k.head_elements(),
                         form.k, scale, scores.data());
        show(scores_product);
        if (cap != 0)
            for (double& score : scores) score = cap * std::tanh(score / cap);
        show(scores_capped);
        bias.add(pair / form.q.heads, pair % form.q.heads, scores);
        show(scores_masked);
        softmax_rows(scores, form.k.length);
        show(scores_softmax);
        multiply(scores.data(), v.data() + kv_pair * form.v.head_elements(),
                 y.data() + pair * form.q.length * form.v.size, form.q.length, form.v.size, form.k.length);
    }
    if (context.wants(output_y)) store_heads(y, form, context.out(output_y));
    if (context.wants(output_scores)) store_doubles(shown, context.out(output_scores));
}

}  // namespace

const Op attention_op{{
    .name = "Attention",
    .since = {23, 24},
    .inputs = {3, 7},
    .outputs = {1, 4},
    .types = float_types,
    .attributes = {{"is_causal", "int", "0", "1: a query sees no key after its own position"},
                   {"kv_num_heads", "int", "", "heads of keys and values of rank 3"},
                   {"q_num_heads", "int", "", "heads of queries of rank 3"},
                   {"qk_matmul_output_mode", "int", "0",
                    "the scores in output 3: 0 products, 1 after softcap, 2 after the mask, 3 after the softmax"},
                   {"scale", "float", "1 / sqrt(size of a head)", "factor of the products"},
                   {"softcap", "float", "0.0", "scores become softcap * tanh(score / softcap) unless it is 0"},
                   {"softmax_precision", "int", "", "not read: the reference computes in double"}},
    .infer = infer_attention,
    .reference = attention_reference,
    .help = "Softmax(q * k^T * scale + mask) * v for each head, with groups of heads that share keys and values, and "
            "keys and values that came before. A query that sees no key becomes NaN.",
}};

}  // namespace headway
