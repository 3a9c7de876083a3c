#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/doubles.h"
#include "ops/elementwise.h"
#include "ops/microsoft_attention_core.h"
#include "ops/product.h"
#include "ops/rotary.h"

namespace headway {
namespace {

enum GroupQueryInput : size_t {
    group_query_q,
    group_query_k,
    group_query_v,
    group_query_past_k,
    group_query_past_v,
    group_query_lengths,
    group_query_total,
    group_query_cosines,
    group_query_sines,
    group_query_positions,
    group_query_bias,
    group_query_sink,
    group_query_first_refused
};

struct GroupQueryForm {
    Heads q, kv;
    int64_t past = 0, present = 0;  // extents of the buffers
    bool packed = false;            // queries, keys and values lie side by side in input 0

    // UserError when the operands do not fit. `total` is what input total_sequence_length holds.
    static GroupQueryForm of(const Attributes& attributes, const Shape& q, const Shape* k, int64_t past,
                             int64_t total) {
        if (q.rank() != 3) throw UserError("its queries of " + q.text() + " have no three axes");
        const int64_t kv_heads = attributes.integer("kv_num_heads", 0);
        const int64_t heads = attributes.integer("num_heads", 0);
        if (kv_heads < 1 || heads < 1 || heads % kv_heads != 0 || heads > std::numeric_limits<int32_t>::max())
            throw UserError("attributes num_heads and kv_num_heads do not fit");
        const bool packed = k == nullptr;
        const int64_t all = packed ? heads + 2 * kv_heads : heads;
        if (q[2] % all != 0)
            throw UserError("queries of " + q.text() + " do not hold " + std::to_string(all) + " heads");
        const int64_t size = q[2] / all;
        if (!packed && *k != Shape{q[0], q[1], kv_heads * size})
            throw UserError("keys or values of " + k->text() + " do not fit queries of " + q.text());
        if (total < 1 || total - past > q[1])
            throw UserError("a total_sequence_length of " + std::to_string(total) + " behind a past of " +
                            std::to_string(past));
        return {{q[0], heads, q[1], size}, {q[0], kv_heads, q[1], size}, past, std::max(past, total), packed};
    }
    Shape buffer(int64_t length) const { return {kv.batch, kv.heads, length, kv.size}; }
};

int64_t group_query_past(const Shape& shape) {
    if (shape.rank() != 4) throw UserError("its past_key of " + shape.text() + " has no four axes");
    return shape[2];
}

void refuse_group_query(const InferContext& context) {
    const Attributes& attributes = context.attributes();
    for (size_t i = group_query_first_refused; i < context.input_count(); ++i)
        if (context.has(i)) throw Unsupported("input " + std::to_string(i) + " is not handled");
    for (const char* name : {"qk_output", "sliding_window_cache"})
        if (attributes.integer(name, 0) != 0) throw Unsupported("attribute " + std::string(name) + " is not handled");
    for (const char* name : {"k_quant_type", "v_quant_type"})
        if (attributes.text(name, "NONE") != "NONE")
            throw Unsupported("attribute " + std::string(name) + " is not handled");
}

void check_group_query_inputs(const InferContext& context, const GroupQueryForm& form) {
    if (context.has(group_query_k) != context.has(group_query_v) ||
        context.has(group_query_past_k) != context.has(group_query_past_v))
        throw UserError("keys and values are not used together");
    if (context.has(group_query_v) && context.shape(group_query_v) != context.shape(group_query_k))
        throw UserError("its keys and values have different shapes");
    for (size_t i : {group_query_past_k, group_query_past_v})
        if (context.has(i) && context.shape(i) != form.buffer(form.past))
            throw UserError("its past of " + context.shape(i).text() + " does not fit");
    for (size_t i : {group_query_k, group_query_v, group_query_past_k, group_query_past_v, group_query_cosines,
                     group_query_sines, group_query_bias, group_query_sink})
        if (context.has(i) && context.type(i) != context.type(0)) throw UserError("its inputs have different types");
    const Shape& lengths = context.shape(group_query_lengths);
    if (context.type(group_query_lengths) != ElementType::i32 || lengths.elements() != form.q.batch)
        throw UserError("its seqlens_k of " + lengths.text() + " are not one i32 of each image");
    if (context.has(group_query_sink) && context.shape(group_query_sink) != Shape{form.q.heads})
        throw UserError("its head_sink does not have one value of each head");
    if (context.has(group_query_bias)) {
        const Shape& bias = context.shape(group_query_bias);
        const Shape scores{form.q.batch, form.q.heads, form.q.length, form.present};
        if (bias.rank() != 4 || bias[2] != scores[2] || bias[3] > scores[3] || (bias[0] != 1 && bias[0] != scores[0]) ||
            (bias[1] != 1 && bias[1] != scores[1]))
            throw UserError("its attention_bias of " + bias.text() + " does not fit scores of " + scores.text());
    }
}

void check_group_query_tables(const InferContext& context, const GroupQueryForm& form) {
    if (context.attributes().integer("do_rotary", 0) == 0) return;
    if (!context.has(group_query_cosines) || !context.has(group_query_sines))
        throw UserError("do_rotary without tables");
    const Shape& table = context.shape(group_query_cosines);
    if (table.rank() != 2 || table != context.shape(group_query_sines) || table[1] > form.q.size / 2)
        throw UserError("tables of " + table.text() + " do not fit heads of " + std::to_string(form.q.size));
    if (context.has(group_query_positions) &&
        (context.type(group_query_positions) != ElementType::i64 ||
         context.shape(group_query_positions) != Shape{form.q.batch, form.q.length}))
        throw UserError("its position_ids are not one i64 for each row");
}

void infer_group_query(InferContext& context) {
    for (size_t i : {group_query_lengths, group_query_total})
        if (!context.has(i)) throw UserError("input " + std::to_string(i) + " is missing");
    refuse_group_query(context);
    const std::vector<int64_t> total = context.required_integers(group_query_total, "total_sequence_length");
    if (total.size() != 1) throw UserError("total_sequence_length is not one number");
    const int64_t past = context.has(group_query_past_k) ? group_query_past(context.shape(group_query_past_k)) : 0;
    const GroupQueryForm form =
        GroupQueryForm::of(context.attributes(), context.shape(group_query_q),
                           context.has(group_query_k) ? &context.shape(group_query_k) : nullptr, past, total[0]);
    check_group_query_inputs(context, form);
    check_group_query_tables(context, form);
    context.set_output(0, context.type(0), {form.q.batch, form.q.length, form.q.heads * form.q.size});
    context.set_output(1, context.type(0), form.buffer(form.present));
    context.set_output(2, context.type(0), form.buffer(form.present));
}

// Where the rows of one image stand: `before` keys came before its first row, `keys` are seen in all.
struct GroupQueryRows {
    int64_t before, keys;
};

std::vector<GroupQueryRows> group_query_rows(const ReferenceContext& context, const GroupQueryForm& form) {
    const bool is_prompt = context.in(group_query_total).to_int64()[0] == form.q.length;
    std::vector<GroupQueryRows> rows;
    for (const int64_t last : context.in(group_query_lengths).to_int64()) {
        const int64_t keys = last + 1;
        const int64_t before = is_prompt ? 0 : keys - form.q.length;
        if (before < 0 || keys < 1 || keys > form.present || before > form.past ||
            before + form.q.length > form.present)
            throw UserError("a length of " + std::to_string(keys) + " keys does not fit");
        rows.push_back({before, keys});
    }
    return rows;
}

// Turned by the positions of the rows, where attribute do_rotary asks for it.
void turn_group_query(const ReferenceContext& context, const std::vector<GroupQueryRows>& rows, HeadTensor& heads) {
    if (context.attributes.integer("do_rotary", 0) == 0) return;
    const std::vector<int64_t> given =
        context.has(group_query_positions) ? context.in(group_query_positions).to_int64() : std::vector<int64_t>{};
    const RotaryForm form{heads.form.batch,
                          heads.form.heads,
                          heads.form.length,
                          heads.form.size,
                          2 * context.in(group_query_cosines).shape()[1],
                          false};
    RotaryTables(context.in(group_query_cosines), context.in(group_query_sines),
                 context.attributes.integer("rotary_interleaved", 0) != 0)
        .turn(heads.values, form, [&](int64_t image, int64_t row) {
            return given.empty() ? rows[static_cast<size_t>(image)].before + row
                                 : given[static_cast<size_t>(image * form.length + row)];
        });
}

// What came before with the new rows behind it, at each image's own place.
HeadTensor group_query_present(const ReferenceContext& context, const GroupQueryForm& form, size_t past_input,
                               const std::vector<GroupQueryRows>& rows, const HeadTensor& now) {
    HeadTensor all{{form.kv.batch, form.kv.heads, form.present, form.kv.size}, {}};
    all.values.resize(static_cast<size_t>(all.form.shape().elements()));
    const std::vector<double> past =
        context.has(past_input) ? doubles_of(context.in(past_input)) : std::vector<double>{};
    const int64_t size = form.kv.size;
    for (int64_t pair = 0; pair < form.kv.batch * form.kv.heads; ++pair) {
        const int64_t before = rows[static_cast<size_t>(pair / form.kv.heads)].before;
        double* to = all.values.data() + pair * form.present * size;
        std::copy_n(past.data() + pair * form.past * size, before * size, to);
        std::copy_n(now.values.data() + pair * now.form.head_elements(), now.form.head_elements(), to + before * size);
    }
    return all;
}

class GroupQueryScores {
public:
    GroupQueryScores(const ReferenceContext& context, const GroupQueryForm& form)
        : cap_(context.attributes.real("softcap", 0)),
          window_(context.attributes.integer("local_window_size", -1)),
          is_causal_(context.attributes.integer("causal", 1) != 0),
          has_sink_(context.has(group_query_sink) || context.attributes.integer("smooth_softmax", 0) == 1),
          form_(form) {
        if (context.has(group_query_sink)) sinks_ = doubles_of(context.in(group_query_sink));
        if (!context.has(group_query_bias)) return;
        bias_ = doubles_of(context.in(group_query_bias));
        bias_shape_ = context.in(group_query_bias).shape();
    }

    // Scores of one row become weights; `keys` of them count.
    void weigh(int64_t image, int64_t head, int64_t row, const GroupQueryRows& rows,
               std::vector<double>& scores) const {
        const int64_t position = rows.before + row;
        const int64_t end = is_causal_ ? std::min(rows.keys, position + 1) : rows.keys;
        const int64_t begin = window_ > 0 ? std::max<int64_t>(0, position + 1 - window_) : 0;
        double top = has_sink_ ? sink(head) : -std::numeric_limits<double>::infinity();
        for (int64_t key = begin; key < end; ++key) {
            double& score = scores[static_cast<size_t>(key)];
            if (cap_ != 0) score = cap_ * std::tanh(score / cap_);
            score += bias(image, head, row, key);
            top = std::max(top, score);
        }
        double sum = has_sink_ ? std::exp(sink(head) - top) : 0;
        for (int64_t key = 0; key < static_cast<int64_t>(scores.size()); ++key) {
            double& score = scores[static_cast<size_t>(key)];
            score = key >= begin && key < end ? std::exp(score - top) : 0;
            sum += score;
        }
        for (double& score : scores) score /= sum;
    }

private:
    // The score of a key without value, which takes its part of the weight.
    double sink(int64_t head) const { return sinks_.empty() ? 0 : sinks_[static_cast<size_t>(head)]; }
    double bias(int64_t image, int64_t head, int64_t row, int64_t key) const {
        if (bias_.empty() || key >= bias_shape_[3]) return 0;
        const int64_t plane = (bias_shape_[0] == 1 ? 0 : image) * bias_shape_[1] + (bias_shape_[1] == 1 ? 0 : head);
        return bias_[static_cast<size_t>((plane * form_.q.length + row) * bias_shape_[3] + key)];
    }

    const double cap_;
    const int64_t window_;
    const bool is_causal_, has_sink_;
    const GroupQueryForm& form_;
    std::vector<double> sinks_, bias_;
    Shape bias_shape_;
};

std::vector<double> attend_in_groups(const ReferenceContext& context, const GroupQueryForm& form,
                                     const std::vector<GroupQueryRows>& rows, const HeadTensor& q, const HeadTensor& k,
                                     const HeadTensor& v) {
    const GroupQueryScores weights(context, form);
    const double scale = microsoft_attention_scale(context.attributes, form.q.size);
    const int64_t size = form.q.size;
    std::vector<double> y = zeros(form.q.shape().elements());
    std::vector<double> scores = zeros(form.q.length * form.present);
    std::vector<double> line = zeros(form.present);
    for (int64_t pair = 0; pair < form.q.batch * form.q.heads; ++pair) {
        const int64_t image = pair / form.q.heads;
        const int64_t head = pair % form.q.heads;
        const int64_t kv_pair = pair * form.kv.heads / form.q.heads;
        attention_scores(q.values.data() + pair * q.form.head_elements(), q.form,
                         k.values.data() + kv_pair * k.form.head_elements(), k.form, scale, scores.data());
        for (int64_t row = 0; row < form.q.length; ++row) {
            std::copy_n(scores.begin() + row * form.present, form.present, line.begin());
            weights.weigh(image, head, row, rows[static_cast<size_t>(image)], line);
            multiply(line.data(), v.values.data() + kv_pair * v.form.head_elements(),
                     y.data() + ((image * form.q.length + row) * form.q.heads + head) * size, 1, size, form.present);
        }
    }
    return y;
}

void group_query_reference(const ReferenceContext& context) {
    const int64_t past = context.has(group_query_past_k) ? context.in(group_query_past_k).shape()[2] : 0;
    const GroupQueryForm form =
        GroupQueryForm::of(context.attributes, context.in(group_query_q).shape(),
                           context.has(group_query_k) ? &context.in(group_query_k).shape() : nullptr, past,
                           context.in(group_query_total).to_int64()[0]);
    const std::vector<GroupQueryRows> rows = group_query_rows(context, form);
    const std::vector<double> first = doubles_of(context.in(group_query_q));
    const int64_t width = context.in(group_query_q).shape()[2];
    const int64_t q_width = form.q.heads * form.q.size;
    const int64_t kv_width = form.kv.heads * form.kv.size;
    HeadTensor q = split_heads(first, form.q, width, 0);
    HeadTensor k = form.packed ? split_heads(first, form.kv, width, q_width)
                               : split_heads(doubles_of(context.in(group_query_k)), form.kv, kv_width, 0);
    const HeadTensor v = form.packed ? split_heads(first, form.kv, width, q_width + kv_width)
                                     : split_heads(doubles_of(context.in(group_query_v)), form.kv, kv_width, 0);
    turn_group_query(context, rows, q);
    turn_group_query(context, rows, k);
    const HeadTensor keys = group_query_present(context, form, group_query_past_k, rows, k);
    const HeadTensor values = group_query_present(context, form, group_query_past_v, rows, v);
    if (context.wants(0)) store_doubles(attend_in_groups(context, form, rows, q, keys, values), context.out(0));
    if (context.wants(1)) store_doubles(keys.values, context.out(1));
    if (context.wants(2)) store_doubles(values.values, context.out(2));
}

}  // namespace

const Op group_query_attention_op{{
    .name = "GroupQueryAttention",
    .domain = "com.microsoft",
    .since = {1},
    .inputs = {1, 17},
    .outputs = {1, 4},
    .types = float_types,
    .attributes = {{"causal", "int", "1", "0: a query sees keys after its own position"},
                   {"do_rotary", "int", "0", "1: queries and keys are turned by the tables"},
                   {"kv_num_heads", "int", "", "heads of keys and values"},
                   {"local_window_size", "int", "-1", "how many keys up to its own position a query sees; -1: all"},
                   {"num_heads", "int", "", "heads of queries"},
                   {"rotary_interleaved", "int", "0", "1: neighbours make a pair, 0: elements of the two halves"},
                   {"scale", "float", "1 / sqrt(size of a head)", "factor of the products"},
                   {"smooth_softmax", "int", "0", "1: a key without value takes part in each softmax with score 0"},
                   {"softcap", "float", "0.0", "scores become softcap * tanh(score / softcap) unless it is 0"}},
    .infer = infer_group_query,
    .reference = group_query_reference,
    .help = "Attention whose groups of heads share keys and values, with a buffer of what came before and each image's "
            "own length. total_sequence_length must be known when an engine is built. Not for quantised buffers.",
}};

}  // namespace headway
