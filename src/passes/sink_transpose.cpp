// Transposes move down through operators that do not care about the order of axes, so that they meet and cancel, shrink
// behind reductions, and do not stand between a producer and its epilogue. Each move is taken only when it does not
// make transposing dearer.
#include <algorithm>
#include <numeric>

#include "passes/match.h"
#include "passes/pass.h"
#include "passes/pointwise_body.h"
#include "passes/rewrite.h"

namespace headway {
namespace {

const Knob<std::string_view> enabled{{
    .name = "sink_transpose",
    .help = "Moves Transposes down to where they cancel, pricing one by its bytes or by its rank.",
    .family = "rewrite",
    .values = {"bytes", "rank", "off"},
    .numerics = Numerics::exact,
    .witness = "transpose_chain",
}};

using Axes = std::vector<int64_t>;

Axes inverted(const Axes& perm) {
    Axes inverse(perm.size());
    for (size_t i = 0; i < perm.size(); ++i) inverse[static_cast<size_t>(perm[i])] = static_cast<int64_t>(i);
    return inverse;
}

// The perm of the Transpose that makes the value; empty when none does.
Axes transposed_by(const Graph& graph, ValueId value) {
    const NodeId id = made_by(graph, value, "Transpose");
    if (id == no_node) return {};
    Axes perm = graph.node(id).attributes.integers("perm");
    if (perm.empty()) {
        perm.resize(graph.value(value).shape().rank());
        std::iota(perm.rbegin(), perm.rend(), 0);
    }
    return perm;
}

ValueId before(const Graph& graph, ValueId value) { return graph.node(graph.value(value).producer).inputs[0]; }

// Computes `result` as a transpose of `source`.
void transpose_as(PassContext& context, ValueId result, ValueId source, const Axes& perm,
                  std::vector<std::string> origins) {
    Attributes attributes;
    attributes.set("perm", perm);
    append_as(context, result, "Transpose", {source}, std::move(attributes), std::move(origins));
}

bool merge_pair(PassContext& context, NodeId id) {
    Graph& graph = context.graph;
    const ValueId result = graph.node(id).outputs[0], middle = graph.node(id).inputs[0];
    const Axes first = transposed_by(graph, middle), second = transposed_by(graph, result);
    if (first.empty()) return false;
    Axes both;
    for (int64_t axis : second) both.push_back(first[static_cast<size_t>(axis)]);
    transpose_as(context, result, before(graph, middle), both,
                 merged_origins(graph, {id, graph.value(middle).producer}));
    return true;
}

double price(const PassContext& context, ValueId value) {
    const Shape shape = context.graph.value(value).shape();
    if (context.route.get(enabled) == "rank") return static_cast<double>(shape.rank());
    return static_cast<double>(shape.elements()) * static_cast<double>(size_of(context.graph.value(value).type));
}

// A value with its axes in the order before the transpose: undone for constants of lower rank by leading ones.
ValueId untransposed(PassContext& context, ValueId value, const Axes& perm, const std::vector<std::string>& origins) {
    Graph& graph = context.graph;
    const Shape shape = graph.value(value).shape();
    if (shape.elements() == 1 && shape.rank() <= 1) return value;
    std::vector<int64_t> full(perm.size() - shape.rank(), 1);
    full.insert(full.end(), shape.begin(), shape.end());
    if (shape.rank() < perm.size()) {
        if (const Tensor* tensor = known(graph, value))
            value = graph.add_constant(graph.value(value).name, tensor->reshaped(Shape(full)));
        else
            value = append(context, "Reshape", {value, add_integers(graph, "shape", full)}, {}, origins);
    }
    Attributes attributes;
    attributes.set("perm", inverted(perm));
    return append(context, "Transpose", {value}, std::move(attributes), origins);
}

// Operators on whole tensors whose axes may come in any order; `attributes` receives what they need afterwards.
bool takes_any_order(const Graph& graph, const Node& node, const Axes& perm, Attributes& attributes) {
    attributes = node.attributes;
    if (node.outputs.size() != 1 || !node.domain.empty()) return false;
    if (is_op(node, "Concat")) {
        const int64_t axis = normalized_axis(node.attributes.integer("axis", 1), perm.size());
        attributes.set("axis", perm[static_cast<size_t>(axis)]);
        return true;
    }
    if (is_op(node, "Softmax") && node.version >= 13) {
        const int64_t axis = normalized_axis(node.attributes.integer("axis", -1), perm.size());
        attributes.set("axis", perm[static_cast<size_t>(axis)]);
        return true;
    }
    return is_op(node, "Cast") || is_pointwise(graph, node);
}

// T(a) op T(b) op c = T(a op b op T'(c)).
Verdict sink(PassContext& context, const Uses& uses, NodeId id) {
    Graph& graph = context.graph;
    const Node node = graph.node(id);
    Axes perm;
    for (ValueId input : node.inputs)
        if (perm.empty() && input != no_value && uses.is_sole(input)) perm = transposed_by(graph, input);
    Attributes attributes;
    if (perm.empty() || node.outputs[0] == no_value || graph.value(node.outputs[0]).shape().rank() != perm.size() ||
        !takes_any_order(graph, node, perm, attributes))
        return Verdict::no(Reason::pattern, "");
    const size_t operands = is_op(node, "Clip") ? 1 : node.inputs.size();
    double was = 0, becomes = price(context, node.outputs[0]);
    std::vector<NodeId> nodes{id};
    std::vector<bool> moves(operands);
    for (size_t i = 0; i < operands; ++i) {
        const ValueId input = node.inputs[i];
        moves[i] = uses.is_sole(input) && transposed_by(graph, input) == perm;
        if (moves[i]) nodes.push_back(graph.value(input).producer);
        if (moves[i])
            was += price(context, input);
        else if (!known(graph, input))
            becomes += price(context, input);
    }
    if (becomes > was) return Verdict::no(Reason::cost, "transposing would cost more");
    const std::vector<std::string> origins = merged_origins(graph, nodes);
    std::vector<ValueId> inputs = node.inputs;
    for (size_t i = 0; i < operands; ++i)
        inputs[i] = moves[i] ? before(graph, inputs[i]) : untransposed(context, inputs[i], perm, origins);
    const ValueId moved = append(context, node.op, std::move(inputs), std::move(attributes), origins);
    graph.node(graph.value(moved).producer).version = node.version;
    transpose_as(context, node.outputs[0], moved, perm, origins);
    return Verdict::yes();
}

bool is_reduction(const Node& node) { return node.op.starts_with("Reduce") && node.domain.empty(); }

// Reduce(T(a)) = T'(Reduce(a)): what is left to transpose is smaller.
bool sink_below_reduction(PassContext& context, const Uses& uses, NodeId id) {
    Graph& graph = context.graph;
    const Node node = graph.node(id);
    const Axes perm = transposed_by(graph, node.inputs[0]);
    std::optional<Axes> axes = axes_of(graph, node);
    if (perm.empty() || !axes || axes->empty() || !uses.is_sole(node.inputs[0])) return false;
    const bool keeps = node.attributes.integer("keepdims", 1) != 0;
    std::vector<bool> reduced(perm.size(), false);
    for (int64_t& axis : *axes) {
        axis = normalized_axis(axis, perm.size());
        reduced[static_cast<size_t>(axis)] = true;
        axis = perm[static_cast<size_t>(axis)];
    }
    std::ranges::sort(*axes);
    Axes left;  // the perm among the axes that remain
    for (size_t i = 0; i < perm.size(); ++i) {
        if (!keeps && reduced[i]) continue;
        left.push_back(perm[i] -
                       (keeps ? 0 : std::ranges::count_if(*axes, [&](int64_t axis) { return axis < perm[i]; })));
    }
    const std::vector<std::string> origins = merged_origins(graph, {id, graph.value(node.inputs[0]).producer});
    std::vector<ValueId> inputs = node.inputs;
    inputs[0] = before(graph, inputs[0]);
    Attributes attributes = node.attributes;
    if (attributes.has("axes"))
        attributes.set("axes", *axes);
    else
        inputs[1] = add_integers(graph, origins.front() + ".axes", *axes);
    // The form of the node follows its opset, so the version must not change before shapes are inferred.
    Node moved = node;
    moved.inputs = std::move(inputs);
    moved.attributes = std::move(attributes);
    moved.origins = origins;
    const ValueId value = graph.add_fresh_value(origins.front());
    moved.outputs = {value};
    infer_node(graph, graph.add_node(std::move(moved)), context.ops);
    transpose_as(context, node.outputs[0], value, left, origins);
    return true;
}

bool run(PassContext& context) {
    Graph& graph = context.graph;
    Uses uses(graph);
    return rewrite_each(graph, [&](NodeId id) {
        if (graph.node(id).inputs.empty() || graph.node(id).inputs[0] == no_value) return false;
        const std::string site = site_of(graph, id);
        bool done = false;
        if (is_op(graph.node(id), "Transpose")) {
            done = merge_pair(context, id);
        } else if (is_reduction(graph.node(id))) {
            done = sink_below_reduction(context, uses, id);
        } else {
            const Verdict verdict = sink(context, uses, id);
            done = static_cast<bool>(verdict);
            if (!done && verdict.reason != Reason::pattern) context.refused(site, "sink", verdict);
        }
        if (!done) return false;
        context.taken(site, "sink");
        uses = Uses(graph);
        return true;
    });
}

const Pass sink_transpose{{
    .name = "sink_transpose",
    .help = "Moves Transposes down and cancels them.",
    .enabled = &enabled,
    .run = run,
}};

}  // namespace
}  // namespace headway
