// The attentions that ONNX and ONNX Runtime have operators for become the strided one, which has kernels. What these
// operators can say and it cannot (scores as an output, a cap on them, lengths of keys) keeps them as they are.
#include <cmath>
#include <limits>
#include <tuple>

#include "ops/attention_core.h"
#include "passes/attention_form.h"
#include "passes/match.h"
#include "passes/rewrite.h"

namespace headway {
namespace {

const Knob<std::string_view> enabled{{
    .name = "rewrite_attention",
    .help = "Turns the operators Attention (ONNX, ONNX Runtime) and MultiHeadAttention (ONNX Runtime) into the "
            "attention that has "
            "kernels of its own.",
    .family = "rewrite",
    .values = {"on", "off"},
    .numerics = Numerics::approximates,
    .witness = "attention_operator",
}};

using Axes = std::vector<int64_t>;

// Heads of an operand: batch x heads x length x size, or of rank 3 side by side in rows, `width` values from `first`
// on.
struct Operand {
    ValueId value = no_value;
    int64_t heads = 0;
    int64_t first = 0, width = 0;
};

struct Attention {
    Operand q, k, v;
    ValueId past_k = no_value, past_v = no_value;
    ValueId mask = no_value;
    double scale = 1;
    bool is_causal = false;
};

bool is_used(const Graph& graph, const Node& node, size_t output) {
    return output < node.outputs.size() && node.outputs[output] != no_value &&
           Uses(graph).is_read(node.outputs[output]);
}

int64_t length_of(const Graph& graph, ValueId value) {
    const Shape shape = graph.value(value).shape();
    return shape[shape.rank() - 2];
}

int64_t size_of_head(const Graph& graph, const Operand& operand) {
    const Shape shape = graph.value(operand.value).shape();
    return shape.rank() == 4 ? shape[3] : operand.width / operand.heads;
}

// batch x heads x length x size of a view of rank 3 or 4; nothing when its rows do not come apart so.
std::optional<StridedView> as_heads(StridedView view, const Operand& operand, int64_t size) {
    if (view.axes.size() == 4) return view;
    StridedAxes row = joined_axes(view.axes[2]);
    if (row.size() > 1) return std::nullopt;
    const int64_t step = row.empty() ? 0 : row[0].step;
    view.offset += operand.first * step;
    const auto parts = regrouped_axes({{operand.width, step}}, {operand.heads, size});
    if (!parts) return std::nullopt;
    view.axes = {view.axes[0], (*parts)[0], view.axes[1], (*parts)[1]};
    return view;
}

// The heads as a value of rank 4, behind those of the past.
ValueId present_heads(PassContext& context, const Operand& operand, ValueId past,
                      const std::vector<std::string>& origins) {
    const Shape shape = context.graph.value(operand.value).shape();
    ValueId value = operand.value;
    if (shape.rank() == 3) {
        const Axes split{shape[0], shape[1], operand.heads, shape[2] / operand.heads};
        value = append(context, "Reshape", {value, add_integers(context.graph, "shape", split)}, {}, origins);
        value = append(context, "Transpose", {value}, attributes_with({}, "perm", Axes{0, 2, 1, 3}), origins);
    }
    if (past != no_value)
        value = append(context, "Concat", {past, value}, attributes_with({}, "axis", int64_t{2}), origins);
    return value;
}

Verdict append_with(PassContext& context, const Node& node, const Attention& found, int64_t past, bool traces) {
    const Graph& graph = context.graph;
    const auto view = [&](const Operand& operand) {
        return as_heads(traces ? traced_view(graph, operand.value, false) : StridedView::whole(graph, operand.value),
                        operand, size_of_head(graph, operand));
    };
    auto q = view(found.q), k = view(found.k), v = view(found.v);
    const int64_t value_size = size_of_head(graph, found.v);
    auto y = as_heads(StridedView::whole(graph, node.outputs[0]),
                      {no_value, found.q.heads, 0, found.q.heads * value_size}, value_size);
    if (!q || !k || !v || !y) return Verdict::no(Reason::layout, "heads do not run evenly");
    // Each head of keys serves several of queries in turn.
    if (found.q.heads != found.k.heads)
        for (auto* shared : {&*k, &*v}) shared->axes[1].push_back({found.q.heads / found.k.heads, 0});
    AttentionParts parts;
    parts.q = std::move(*q);
    parts.k = std::move(*k);
    parts.v = std::move(*v);
    parts.y = std::move(*y);
    parts.result = node.outputs[0];
    parts.scale = found.scale;
    if (found.is_causal) parts.causal = past;
    if (found.mask != no_value) {
        parts.mask = traces ? traced_view(graph, found.mask, false) : StridedView::whole(graph, found.mask);
        const bool chooses = graph.value(found.mask).type == ElementType::boolean;
        parts.mask_kind = chooses ? AttentionForm::Mask::keep : AttentionForm::Mask::add;
        parts.hidden = -std::numeric_limits<float>::infinity();
    }
    return append_attention(context, parts, node.origins);
}

Verdict replace(PassContext& context, const Node& node, Attention found) {
    Graph& graph = context.graph;
    const int64_t past = found.past_k == no_value ? 0 : length_of(graph, found.past_k);
    const Shape keys = graph.value(found.k.value).shape();
    if (found.mask != no_value) {
        const Shape mask = graph.value(found.mask).shape();
        if (mask.rank() == 0 || mask.back() != past + keys[keys.rank() - 2])
            return Verdict::no(Reason::shape, "the mask has other keys");
    }
    const Shape y = graph.value(node.outputs[0]).shape();
    if (y.elements() == 0 || keys.elements() == 0 || graph.value(found.v.value).shape().elements() == 0)
        return Verdict::no(Reason::shape, "nothing to compute");
    for (const auto& [operand, before, output] :
         {std::tuple(&found.k, found.past_k, size_t{1}), std::tuple(&found.v, found.past_v, size_t{2})}) {
        const bool shows = is_used(graph, node, output);
        if (before == no_value && !shows) continue;
        operand->value = present_heads(context, *operand, before, node.origins);
        if (shows) append_as(context, node.outputs[output], "Identity", {operand->value}, {}, node.origins);
    }
    Verdict verdict = append_with(context, node, found, past, true);
    if (!verdict) verdict = append_with(context, node, found, past, false);
    if (!verdict) throw InternalError("attention " + node.origins.front() + ": " + verdict.text());
    return verdict;
}

// Heads of a rank-3 operand by an attribute, else by the shape.
Operand operand_of(const Graph& graph, const Node& node, size_t input, const char* count) {
    const Shape shape = graph.value(node.inputs[input]).shape();
    return {node.inputs[input], shape.rank() == 4 ? shape[1] : node.attributes.integer(count, 0), 0, shape.back()};
}

Verdict rewrite_onnx(PassContext& context, const Node& node) {
    const Graph& graph = context.graph;
    constexpr size_t mask = 3, past_k = 4, past_v = 5, lengths = 6, scores = 3;
    if (is_used(graph, node, scores)) return Verdict::no(Reason::pattern, "its scores are an output");
    if (input_of(node, lengths) != no_value) return Verdict::no(Reason::pattern, "lengths of keys");
    if (node.attributes.real("softcap", 0) != 0) return Verdict::no(Reason::attribute, "a cap on scores");
    Attention found;
    found.q = operand_of(graph, node, 0, "q_num_heads");
    found.k = operand_of(graph, node, 1, "kv_num_heads");
    found.v = operand_of(graph, node, 2, "kv_num_heads");
    found.mask = input_of(node, mask);
    found.past_k = input_of(node, past_k);
    found.past_v = input_of(node, past_v);
    found.scale = attention_scale(node.attributes, size_of_head(graph, found.q));
    found.is_causal = node.attributes.integer("is_causal", 0) != 0;
    return replace(context, node, found);
}

Verdict covers_keys(const Graph& graph, ValueId mask) {
    if (mask == no_value || graph.value(mask).shape().rank() > 1) return Verdict::yes();
    return Verdict::no(Reason::shape, "a mask of lengths");
}

// ONNX Runtime's mask of integers for each key (batch x keys, or batch x queries x keys) and its bias of scores, as one
// number to add to each score; no_value for neither.
ValueId score_bias_of(PassContext& context, const Node& node, ValueId mask, ValueId score_bias) {
    if (mask == no_value) return score_bias;
    constexpr int64_t boolean = 9;
    const auto constant = [&](float value) { return add_floats(context.graph, "mask", {}, {value}); };
    const Axes axes = context.graph.value(mask).shape().rank() == 2 ? Axes{1, 2} : Axes{1};
    ValueId value = append(context, "Cast", {mask}, attributes_with({}, "to", boolean), node.origins);
    value =
        append(context, "Where", {value, constant(0), constant(node.attributes.real("mask_filter_value", -10000.0F))},
               {}, node.origins);
    value = append(context, "Unsqueeze", {value, add_integers(context.graph, "axes", axes)}, {}, node.origins);
    if (score_bias != no_value) value = append(context, "Add", {value, score_bias}, {}, node.origins);
    return value;
}

double microsoft_scale(const Node& node, int64_t size) {
    const float scale = node.attributes.real("scale", 0);
    return scale == 0 ? 1 / std::sqrt(static_cast<double>(size)) : double{scale};
}

// The part of a projection's bias that belongs to an operand, added to it.
ValueId with_bias(PassContext& context, ValueId value, const Tensor& bias, int64_t first,
                  const std::vector<std::string>& origins) {
    const int64_t width = context.graph.value(value).shape().back();
    std::vector<double> part;
    for (int64_t i = 0; i < width; ++i) part.push_back(bias.at(first + i));
    return append(context, "Add", {value, add_floats(context.graph, "bias", {width}, part)}, {}, origins);
}

Verdict rewrite_multi_head(PassContext& context, const Node& node) {
    Graph& graph = context.graph;
    constexpr size_t bias = 3, mask = 4, score_bias = 5, past_k = 6, past_v = 7, scores = 3;
    if (is_used(graph, node, scores)) return Verdict::no(Reason::pattern, "its scores are an output");
    if (const Verdict verdict = covers_keys(graph, input_of(node, mask)); !verdict) return verdict;
    std::optional<Tensor> biases;  // a copy: values move as the graph grows
    if (const Tensor* constant = known(graph, input_of(node, bias))) biases = *constant;
    if (!biases && input_of(node, bias) != no_value) return Verdict::no(Reason::needs_constant, "the bias is computed");
    Attention found;
    found.q = operand_of(graph, node, 0, "num_heads");
    found.k = operand_of(graph, node, 1, "num_heads");
    found.v = operand_of(graph, node, 2, "num_heads");
    if (biases && graph.value(found.k.value).shape().rank() != 3)
        return Verdict::no(Reason::shape, "a bias beside keys that are heads already");
    found.mask = score_bias_of(context, node, input_of(node, mask), input_of(node, score_bias));
    found.past_k = input_of(node, past_k);
    found.past_v = input_of(node, past_v);
    found.scale = microsoft_scale(node, size_of_head(graph, found.q));
    found.is_causal = node.attributes.integer("unidirectional", 0) != 0;
    if (biases) {
        int64_t first = 0;
        for (Operand* operand : {&found.q, &found.k, &found.v}) {
            const int64_t width = graph.value(operand->value).shape().back();
            operand->value = with_bias(context, operand->value, *biases, first, node.origins);
            first += width;
        }
    }
    return replace(context, node, found);
}

// Queries, keys and values lie side by side in one projection.
Verdict rewrite_merged(PassContext& context, const Node& node) {
    const Graph& graph = context.graph;
    constexpr size_t bias = 2, mask = 3, past = 4, score_bias = 5, present = 1;
    if (input_of(node, past) != no_value || is_used(graph, node, present))
        return Verdict::no(Reason::pattern, "a past in one tensor");
    if (const Verdict verdict = covers_keys(graph, input_of(node, mask)); !verdict) return verdict;
    ValueId projected = append(context, "MatMul", {node.inputs[0], node.inputs[1]}, {}, node.origins);
    if (input_of(node, bias) != no_value)
        projected = append(context, "Add", {projected, node.inputs[bias]}, {}, node.origins);
    const int64_t heads = node.attributes.integer("num_heads", 0), whole = graph.value(projected).shape().back();
    const Axes sizes = node.attributes.integers("qkv_hidden_sizes", Axes(3, whole / 3));
    Attention found;
    found.q = {projected, heads, 0, sizes[0]};
    found.k = {projected, heads, sizes[0], sizes[1]};
    found.v = {projected, heads, sizes[0] + sizes[1], sizes[2]};
    found.mask = score_bias_of(context, node, input_of(node, mask), input_of(node, score_bias));
    found.scale = microsoft_scale(node, size_of_head(graph, found.q));
    found.is_causal = node.attributes.integer("unidirectional", 0) != 0;
    return replace(context, node, found);
}

Verdict rewrite(PassContext& context, const Node& node) {
    const Graph& graph = context.graph;
    if (node.outputs[0] == no_value) return Verdict::no(Reason::pattern, "its result is not used");
    for (size_t i = 0; i < node.inputs.size(); ++i) {
        if (node.inputs[i] == no_value) continue;
        const ElementType type = graph.value(node.inputs[i]).type;
        const bool may_be_mask = i >= 3 && (type == ElementType::boolean || type == ElementType::i32);
        if (type != ElementType::f32 && !may_be_mask)
            return Verdict::no(Reason::element_type, "an input of " + std::string(to_string(type)));
    }
    if (node.domain.empty()) return rewrite_onnx(context, node);
    return node.op == "Attention" ? rewrite_merged(context, node) : rewrite_multi_head(context, node);
}

bool run(PassContext& context) {
    Graph& graph = context.graph;
    return rewrite_each(graph, [&](NodeId id) {
        const Node node = graph.node(id);
        const bool is_microsoft = node.domain == "com.microsoft";
        const bool fits = (node.op == "Attention" && (is_microsoft || node.domain.empty())) ||
                          (node.op == "MultiHeadAttention" && is_microsoft);
        if (!fits) return false;
        const std::string site = site_of(graph, id);
        return context.decided(site, "StridedAttention", rewrite(context, node));
    });
}

const Pass rewrite_attention{{
    .name = "rewrite_attention",
    .help = "Turns operators for attention into the one with kernels.",
    .enabled = &enabled,
    .run = run,
}};

}  // namespace
}  // namespace headway
