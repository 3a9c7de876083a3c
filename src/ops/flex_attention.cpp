#include "ops/attention_core.h"
#include "ops/doubles.h"
#include "ops/op.h"
#include "ops/product.h"

namespace headway {
namespace {

Heads flex_heads(const Shape& shape) {
    if (shape.rank() != 4) throw UserError("its input of " + shape.text() + " is not of rank 4");
    return {shape[0], shape[1], shape[2], shape[3]};
}

// What both stages of modification see: in double where the inputs are, else in f32, unless the node says otherwise.
ElementType flex_precision(const Attributes& attributes, ElementType type) {
    return softmax_precision(attributes, type == ElementType::f64 ? ElementType::f64 : ElementType::f32);
}

Shape flex_output(const Attributes& attributes, const Shape& q_shape, const Shape& k_shape, const Shape& v_shape) {
    const Heads q = flex_heads(q_shape);
    const Heads v = flex_heads(v_shape);
    require_fitting_heads(q, flex_heads(k_shape), v);
    attention_scale(attributes, q.size);
    return {q.batch, q.heads, q.length, v.size};
}

void require_flex_types(ElementType q, ElementType k, ElementType v) {
    if (k != q || v != q) throw UserError("its inputs have different types");
}

void infer_flex(InferContext& context) {
    if (!context.node().subgraphs.empty()) throw Unsupported("score_mod and prob_mod are only interpreted");
    const Shape shape = flex_output(context.attributes(), context.shape(0), context.shape(1), context.shape(2));
    require_flex_types(context.type(0), context.type(1), context.type(2));
    flex_precision(context.attributes(), context.type(0));
    context.set_output(0, context.type(0), shape);
}

// Queries, keys and values as doubles; a pair is one head of one batch, with q.length * k.length scores.
struct FlexHeads {
    Heads q_form, k_form, v_form;
    std::vector<double> q, k, v;
    double scale;

    FlexHeads(const Attributes& attributes, const Tensor& queries, const Tensor& keys, const Tensor& values)
        : q_form(flex_heads(queries.shape())),
          k_form(flex_heads(keys.shape())),
          v_form(flex_heads(values.shape())),
          q(doubles_of(queries)),
          k(doubles_of(keys)),
          v(doubles_of(values)),
          scale(attention_scale(attributes, q_form.size)) {}

    int64_t pairs() const { return q_form.batch * q_form.heads; }
    int64_t pair_scores() const { return q_form.length * k_form.length; }
    int64_t shared_pair(int64_t pair) const { return pair * k_form.heads / q_form.heads; }

    void scores(int64_t pair, double* to) const {
        attention_scores(q.data() + pair * q_form.head_elements(), q_form,
                         k.data() + shared_pair(pair) * k_form.head_elements(), k_form, scale, to);
    }
    void weighted(int64_t pair, const double* probabilities, std::vector<double>& y) const {
        multiply(probabilities, v.data() + shared_pair(pair) * v_form.head_elements(),
                 y.data() + pair * q_form.length * v_form.size, q_form.length, v_form.size, k_form.length);
    }
};

void flex_reference(const ReferenceContext& context) {
    const FlexHeads heads(context.attributes, context.in(0), context.in(1), context.in(2));
    std::vector<double> scores = zeros(heads.pair_scores());  // of one head
    std::vector<double> y = zeros(context.out(0).elements());
    for (int64_t pair = 0; pair < heads.pairs(); ++pair) {
        heads.scores(pair, scores.data());
        softmax_rows(scores, heads.k_form.length);
        heads.weighted(pair, scores.data(), y);
    }
    store_doubles(y, context.out(0));
}

// Runs a modifier on the values, which are those of all heads; without one they stay.
void modify(const InterpretContext& context, std::string_view modifier, const FlexHeads& heads, ElementType type,
            std::vector<double>& values) {
    for (const Subgraph& subgraph : context.node.subgraphs) {
        if (subgraph.attribute != modifier) continue;
        const Shape shape{heads.q_form.batch, heads.q_form.heads, heads.q_form.length, heads.k_form.length};
        Tensor given(type, shape);
        store_doubles(values, given);
        const std::vector<Datum> results = context.run(*subgraph.graph, std::vector<Datum>{std::move(given)});
        const auto* result = results.size() == 1 ? std::get_if<Tensor>(&results[0]) : nullptr;
        if (result == nullptr || result->type() != type || result->shape() != shape)
            throw UserError(std::string(modifier) + " does not give one tensor of " + std::string(to_string(type)) +
                            " and " + shape.text());
        values = doubles_of(*result);
    }
}

std::vector<Datum> interpret_flex(const InterpretContext& context) {
    const Tensor& q = context.tensor(0);
    const Shape shape =
        flex_output(context.attributes(), q.shape(), context.tensor(1).shape(), context.tensor(2).shape());
    require_flex_types(q.type(), context.tensor(1).type(), context.tensor(2).type());
    const ElementType type = flex_precision(context.attributes(), q.type());
    const FlexHeads heads(context.attributes(), q, context.tensor(1), context.tensor(2));
    Tensor output(q.type(), shape);
    std::vector<double> scores(
        static_cast<size_t>(Shape{heads.pairs(), heads.q_form.length, heads.k_form.length}.elements()));
    const auto scores_of = [&](int64_t pair) { return scores.data() + pair * heads.pair_scores(); };
    for (int64_t pair = 0; pair < heads.pairs(); ++pair) heads.scores(pair, scores_of(pair));
    modify(context, "score_mod", heads, type, scores);
    softmax_rows(scores, heads.k_form.length);
    modify(context, "prob_mod", heads, type, scores);
    std::vector<double> y = zeros(output.elements());
    for (int64_t pair = 0; pair < heads.pairs(); ++pair) heads.weighted(pair, scores_of(pair), y);
    store_doubles(y, output);
    return {std::move(output)};
}

}  // namespace

const Op flex_attention_op{{
    .name = "FlexAttention",
    .domain = "ai.onnx.preview",
    .since = {1},
    .inputs = {3, 3},
    .types = float_types,
    .attributes = {{"prob_mod", "graph", "", "changes the probabilities of all heads; interpreted only"},
                   {"scale", "float", "1 / sqrt(size of a head)", "factor of the products"},
                   {"score_mod", "graph", "", "changes the scores of all heads; interpreted only"},
                   {"softmax_precision", "int", "f32, or f64 for f64",
                    "element type that the graphs see; the reference computes in double"}},
    .infer = infer_flex,
    .reference = flex_reference,
    .interpret = interpret_flex,
    .help = "Softmax(q * k^T * scale) * v for each head, with groups of heads that share keys and values.",
}};

}  // namespace headway
