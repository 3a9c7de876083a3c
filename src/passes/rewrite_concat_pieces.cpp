// Neighbouring inputs of a Concat that are together all of another tensor, in order: Slices of it, all outputs of a
// Split, or the inputs of a Concat along the same axis that others read as well. The Concat reads that tensor instead.
#include <algorithm>

#include "passes/match.h"
#include "passes/pass.h"
#include "passes/rewrite.h"

namespace headway {
namespace {

const Knob<std::string_view> enabled{{
    .name = "rewrite_concat_pieces",
    .help = "Joins a tensor itself where a Concat joins all of its pieces in order.",
    .family = "rewrite",
    .values = {"on", "off"},
    .numerics = Numerics::exact,
    .witness = "concat_pieces",
}};

size_t axis_of(const Graph& graph, const Node& node, ValueId value, int64_t fallback) {
    return static_cast<size_t>(
        normalized_axis(node.attributes.integer("axis", fallback), graph.value(value).shape().rank()));
}

// What a value is a piece of, and from where on along the axis.
struct Piece {
    ValueId whole = no_value;
    int64_t begin = 0;
};

Piece piece_of(const Graph& graph, ValueId value, size_t axis) {
    if (const NodeId slice = made_by(graph, value, "Slice"); slice != no_node) {
        const Node& node = graph.node(slice);
        const auto range = slice_range(graph, node);
        Shape shape = graph.value(node.inputs[0]).shape();
        shape[axis] = graph.value(value).shape()[axis];
        const bool along_axis_only = range && shape == graph.value(value).shape() &&
                                     std::ranges::all_of(range->steps, [](int64_t step) { return step == 1; });
        return along_axis_only ? Piece{node.inputs[0], range->starts[axis]} : Piece{};
    }
    if (const NodeId split = made_by(graph, value, "Split"); split != no_node) {
        const Node& node = graph.node(split);
        if (axis_of(graph, node, node.inputs[0], 0) != axis) return {};
        int64_t begin = 0;
        for (ValueId output : node.outputs) {
            if (output == value) return {node.inputs[0], begin};
            if (output == no_value) return {};
            begin += graph.value(output).shape()[axis];
        }
    }
    return {};
}

// Inputs of a Concat from some position on that are together all of `whole`.
struct Run {
    ValueId whole = no_value;
    size_t count = 0;
};

Run pieces_from(const Graph& graph, const std::vector<ValueId>& inputs, size_t first, size_t axis) {
    const ValueId whole = piece_of(graph, inputs[first], axis).whole;
    int64_t end = 0;
    for (size_t k = first; k < inputs.size() && whole != no_value; ++k) {
        const Piece piece = piece_of(graph, inputs[k], axis);
        if (piece.whole != whole || piece.begin != end) return {};
        end += graph.value(inputs[k]).shape()[axis];
        if (end == graph.value(whole).shape()[axis]) return {whole, k - first + 1};
    }
    return {};
}

// The longest shorter Concat along the axis of the same inputs.
Run joined_already(const Graph& graph, const Uses& uses, const std::vector<ValueId>& inputs, size_t first,
                   size_t axis) {
    Run longest;
    for (NodeId id : uses.readers(inputs[first])) {
        const Node& node = graph.node(id);
        const size_t count = node.inputs.size();
        if (node.dead || !is_op(node, "Concat") || axis_of(graph, node, node.outputs[0], 1) != axis) continue;
        const auto begin = inputs.begin() + static_cast<std::ptrdiff_t>(first);
        if (count < 2 || count <= longest.count || count >= inputs.size() || count > inputs.size() - first ||
            !std::equal(node.inputs.begin(), node.inputs.end(), begin))
            continue;
        longest = {node.outputs[0], count};
    }
    return longest;
}

bool join_wholes(PassContext& context, NodeId id) {
    Graph& graph = context.graph;
    const Node node = graph.node(id);
    const Uses uses(graph);
    const size_t axis = axis_of(graph, node, node.outputs[0], 1);
    std::vector<ValueId> inputs;
    for (size_t k = 0; k < node.inputs.size();) {
        Run run = pieces_from(graph, node.inputs, k, axis);
        if (run.count == 0) run = joined_already(graph, uses, node.inputs, k, axis);
        inputs.push_back(run.count == 0 ? node.inputs[k] : run.whole);
        k += std::max<size_t>(run.count, 1);
    }
    if (inputs == node.inputs) return false;
    append_as(context, node.outputs[0], "Concat", std::move(inputs), node.attributes, node.origins);
    return true;
}

bool run(PassContext& context) {
    Graph& graph = context.graph;
    return rewrite_each(graph, [&](NodeId id) {
        const Node& node = graph.node(id);
        if (!is_op(node, "Concat") || node.inputs.size() < 2) return false;
        const std::string site = site_of(graph, id);
        if (!join_wholes(context, id)) return false;
        context.taken(site, "join");
        return true;
    });
}

const Pass rewrite_concat_pieces{{
    .name = "rewrite_concat_pieces",
    .help = "Joins a tensor itself instead of all its pieces.",
    .enabled = &enabled,
    .run = run,
}};

}  // namespace
}  // namespace headway
