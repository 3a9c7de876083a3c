// Nodes that return their input unchanged disappear.
#include <algorithm>
#include <cmath>
#include <limits>

#include "passes/match.h"
#include "passes/pass.h"
#include "passes/rewrite.h"

namespace headway {
namespace {

const Knob<std::string_view> enabled{{
    .name = "eliminate_identity",
    .help =
        "Removes nodes that return their input unchanged (x + 0 turns a negative zero into a zero; that is ignored).",
    .family = "rewrite",
    .values = {"on", "off"},
    .numerics = Numerics::reorders,
    .witness = "identities",
}};

bool all_equal(const std::optional<std::vector<int64_t>>& values, int64_t wanted) {
    return values && std::ranges::all_of(*values, [&](int64_t value) { return value == wanted; });
}

bool is_inference_dropout(const Graph& graph, const Node& node) {
    if (node.outputs.size() > 1 && node.outputs[1] != no_value) return false;
    if (node.version < 7 && node.attributes.integer("is_test", 0) == 0) return false;
    if (input_of(node, 2) == no_value) return node.version < 12 || !node.attributes.has("training_mode");
    return all_equal(known_integers(graph, node.inputs[2]), 0);
}

bool is_in_order(const std::vector<int64_t>& perm) { return !perm.empty() && std::ranges::is_sorted(perm); }

// Operators that only copy: with an unchanged shape they return their input if no element moves.
bool moves_nothing(const Graph& graph, const Node& node) {
    const std::string& op = node.op;
    if (op == "Reshape" || op == "Flatten" || op == "Squeeze" || op == "Unsqueeze" || op == "Expand" || op == "Tile")
        return true;
    if (op == "Transpose")
        return is_in_order(node.attributes.integers("perm")) || graph.value(node.inputs[0]).shape().rank() < 2;
    if (op == "Slice") {
        const std::optional<SliceRange> range = slice_range(graph, node);
        return range && all_equal(range->starts, 0) && all_equal(range->steps, 1);
    }
    if (op == "Pad") {
        const std::optional<PadAmounts> pads = constant_pads(graph, node);
        return pads && all_equal(pads->begin, 0) && all_equal(pads->end, 0);
    }
    return op == "Concat" && node.inputs.size() == 1;
}

// The constant with which the operator returns its other operand.
bool is_neutral(const Node& node, float constant, bool constant_first) {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    if (node.op == "Mul") return constant == 1;
    if (node.op == "Div" || node.op == "Pow") return constant == 1 && !constant_first;
    if (node.op == "Add") return constant == 0;
    if (node.op == "Sub") return constant == 0 && !constant_first;
    if (node.op == "Max") return constant == -infinity;
    return node.op == "Min" && constant == infinity;
}

// The input that the node returns unchanged; no_value if there is none.
ValueId same_as(const Graph& graph, const Node& node) {
    if (!node.domain.empty() || node.inputs.empty() || node.inputs[0] == no_value || node.outputs[0] == no_value)
        return no_value;
    const Value& result = graph.value(node.outputs[0]);
    const Value& first = graph.value(node.inputs[0]);
    if (const auto operand = constant_operand(graph, node)) {
        const std::optional<float> constant = uniform_constant(graph, operand->constant);
        if (constant && is_neutral(node, *constant, operand->constant_first)) return operand->variable;
    }
    if (node.op == "Identity") return node.inputs[0];
    if (node.op == "Dropout") return is_inference_dropout(graph, node) ? node.inputs[0] : no_value;
    if (first.type != result.type || !first.has_static_shape() || first.shape() != result.shape()) return no_value;
    if (node.op == "Cast") return node.inputs[0];
    if (node.op == "Clip" && first.type == ElementType::f32) {
        const std::optional<Bounds> bounds = clip_bounds(graph, node);
        return bounds && std::isinf(bounds->low) && std::isinf(bounds->high) && bounds->low < bounds->high
                   ? node.inputs[0]
                   : no_value;
    }
    return moves_nothing(graph, node) ? node.inputs[0] : no_value;
}

bool run(PassContext& context) {
    Graph& graph = context.graph;
    return rewrite_each(graph, [&](NodeId id) {
        const ValueId input = same_as(graph, graph.node(id));
        if (input == no_value) return false;
        const std::string site = site_of(graph, id);
        const bool done = replace_value(context, graph.node(id).outputs[0], input);
        if (done)
            context.taken(site, "eliminate");
        else
            context.refused(site, "eliminate", Verdict::no(Reason::consumers, "keeps the name of a graph output"));
        return done;
    });
}

const Pass eliminate_identity{{
    .name = "eliminate_identity",
    .help = "Removes nodes that return their input unchanged.",
    .enabled = &enabled,
    .run = run,
}};

}  // namespace
}  // namespace headway
