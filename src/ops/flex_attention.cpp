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

void infer_flex(InferContext& context) {
    if (!context.node().subgraphs.empty()) throw Unsupported("score_mod and prob_mod are not handled");
    const Heads q = flex_heads(context.shape(0));
    const Heads v = flex_heads(context.shape(2));
    require_fitting_heads(q, flex_heads(context.shape(1)), v);
    if (context.type(1) != context.type(0) || context.type(2) != context.type(0))
        throw UserError("its inputs have different types");
    attention_scale(context.attributes(), q.size);
    softmax_precision(context.attributes(), ElementType::f32);
    context.set_output(0, context.type(0), Shape{q.batch, q.heads, q.length, v.size});
}

void flex_reference(const ReferenceContext& context) {
    const Heads q_form = flex_heads(context.in(0).shape());
    const Heads k_form = flex_heads(context.in(1).shape());
    const Heads v_form = flex_heads(context.in(2).shape());
    const std::vector<double> q = doubles_of(context.in(0));
    const std::vector<double> k = doubles_of(context.in(1));
    const std::vector<double> v = doubles_of(context.in(2));
    const double scale = attention_scale(context.attributes, q_form.size);
    std::vector<double> scores(static_cast<size_t>(q_form.length * k_form.length));  // of one head
    std::vector<double> y(static_cast<size_t>(context.out(0).elements()));
    for (int64_t pair = 0; pair < q_form.batch * q_form.heads; ++pair) {
        const int64_t kv_pair = pair * k_form.heads / q_form.heads;
        attention_scores(q.data() + pair * q_form.head_elements(), q_form, k.data() + kv_pair * k_form.head_elements(),
                         k_form, scale, scores.data());
        softmax_rows(scores, k_form.length);
        multiply(scores.data(), v.data() + kv_pair * v_form.head_elements(),
                 y.data() + pair * q_form.length * v_form.size, q_form.length, v_form.size, k_form.length);
    }
    store_doubles(y, context.out(0));
}

}  // namespace

const Op flex_attention_op{{
    .name = "FlexAttention",
    .domain = "ai.onnx.preview",
    .since = {1},
    .inputs = {3, 3},
    .types = float_types,
    .attributes = {{"prob_mod", "graph", "", "changes the probabilities; not handled"},
                   {"scale", "float", "1 / sqrt(size of a head)", "factor of the products"},
                   {"score_mod", "graph", "", "changes the scores; not handled"},
                   {"softmax_precision", "int", "", "not read: the reference computes in double"}},
    .infer = infer_flex,
    .reference = flex_reference,
    .help = "Softmax(q * k^T * scale) * v for each head, with groups of heads that share keys and values.",
}};

}  // namespace headway
