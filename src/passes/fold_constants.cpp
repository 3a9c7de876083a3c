// Nodes whose inputs are known at build time are computed at build time, by the operator's reference.
#include <algorithm>
#include <array>

#include "ops/execute.h"
#include "ops/work.h"
#include "passes/match.h"
#include "passes/pass.h"
#include "passes/rewrite.h"

namespace headway {
namespace {

const Knob<std::string_view> scope{{
    .name = "fold_constants.scope",
    .help = "What is computed at build time: every node with known inputs, or only small integer chains (shapes).",
    .family = "rewrite",
    .values = {"all", "shapes"},
    .numerics = Numerics::reorders,
    .witness = "constant_chain",
}};

const Knob<int64_t> max_mb{{
    .name = "fold_constants.max_mb",
    .help = "A result larger than this and than its inputs is computed at run time instead of being stored.",
    .family = "rewrite",
    .values = {256, 0, 1, 16},
    .numerics = Numerics::reorders,
    .witness = "constant_tile",
}};

bool is_random(const Node& node) {
    constexpr std::array<std::string_view, 6> random_ops{"Bernoulli",        "Multinomial",   "RandomNormal",
                                                         "RandomNormalLike", "RandomUniform", "RandomUniformLike"};
    return std::ranges::find(random_ops, node.op) != random_ops.end();
}

int64_t bytes_of(const Value& value) {
    return value.has_static_shape() ? value.shape().elements() * static_cast<int64_t>(size_of(value.type)) : 0;
}

// Shapes and indices: cheap to hold, and what other passes and lowering need to know.
bool is_small_integers(const Value& value) {
    constexpr int64_t most_elements = 1024;
    return value.has_static_shape() && !is_float(value.type) && value.shape().elements() <= most_elements;
}

// Shape and Size need no values, only the static shape of their input.
std::optional<Tensor> measured(const Graph& graph, const Node& node) {
    if (!is_op(node, "Shape") && !is_op(node, "Size")) return std::nullopt;
    const Shape shape = graph.value(node.inputs[0]).shape();
    if (is_op(node, "Size")) return Tensor::scalar<int64_t>(shape.elements());
    const auto rank = static_cast<int64_t>(shape.rank());
    const auto position = [&](const char* name, int64_t fallback) {
        const int64_t at = node.attributes.integer(name, fallback);
        return std::clamp<int64_t>(at < 0 ? at + rank : at, 0, rank);
    };
    const int64_t begin = position("start", 0), end = position("end", rank);
    std::vector<int64_t> extents;
    for (int64_t i = begin; i < end; ++i) extents.push_back(shape[static_cast<size_t>(i)]);
    return Tensor::of<int64_t>({static_cast<int64_t>(extents.size())}, extents);
}

// Whether all inputs are known and the node is a function of them.
bool is_computable(const Graph& graph, const Node& node) {
    if (is_random(node) || !node.subgraphs.empty() || node.body) return false;
    return std::ranges::all_of(node.inputs,
                               [&](ValueId input) { return input == no_value || known(graph, input) != nullptr; });
}

Verdict may_store(const PassContext& context, const Node& node) {
    const Graph& graph = context.graph;
    int64_t in = 0, out = 0;
    bool small = true;
    for (ValueId input : node.inputs)
        if (input != no_value) in += bytes_of(graph.value(input));
    for (ValueId output : node.outputs) {
        if (output == no_value) continue;
        out += bytes_of(graph.value(output));
        small = small && is_small_integers(graph.value(output));
    }
    if (building_work(graph, node) > most_building_work)
        return Verdict::no(Reason::limit, "too much to compute while building");
    if (small) return Verdict::yes();
    if (context.route.get(scope) == "shapes") return Verdict::no(Reason::knob, "fold_constants.scope=shapes");
    const int64_t limit = context.route.get(max_mb) << 20;
    if (out > limit && out > in)
        return Verdict::no(Reason::limit, std::to_string(out) + " bytes (at most " + std::to_string(limit) + ")");
    return Verdict::yes();
}

// A graph output cannot be a constant itself: it keeps its name behind an Identity.
void store(PassContext& context, NodeId id, std::vector<Tensor> results) {
    Graph& graph = context.graph;
    const std::vector<ValueId> outputs = graph.node(id).outputs;
    for (size_t i = 0; i < outputs.size(); ++i) {
        if (outputs[i] == no_value) continue;
        if (graph.is_output(outputs[i])) {
            const ValueId constant = graph.add_constant(graph.value(outputs[i]).name, std::move(results[i]));
            replace_value(context, outputs[i], constant);
        } else {
            graph.value(outputs[i]).constant = std::move(results[i]);
        }
    }
    if (!graph.node(id).dead) graph.erase_node(id);
}

bool is_constant_output(const Graph& graph, const Node& node) {
    return is_op(node, "Identity") && graph.is_output(node.outputs[0]);
}

bool run(PassContext& context) {
    Graph& graph = context.graph;
    return rewrite_each(graph, [&](NodeId id) {
        const Node& node = graph.node(id);
        std::optional<Tensor> shape = measured(graph, node);
        if (!shape && (!is_computable(graph, node) || is_constant_output(graph, node))) return false;
        const std::string site = site_of(graph, id);
        if (const Verdict verdict = may_store(context, node); !verdict) {
            context.refused(site, "fold", verdict);
            return false;
        }
        std::vector<Tensor> results;
        if (shape) {
            results.push_back(std::move(*shape));
        } else {
            std::vector<const Tensor*> inputs;
            for (ValueId input : node.inputs) inputs.push_back(input == no_value ? nullptr : known(graph, input));
            results = naming(node, [&] { return run_reference(node, inputs, context.ops); });
        }
        store(context, id, std::move(results));
        context.taken(site, "fold");
        return true;
    });
}

const Pass fold_constants{{
    .name = "fold_constants",
    .help = "Computes nodes with known inputs at build time.",
    .run = run,
}};

}  // namespace
}  // namespace headway
