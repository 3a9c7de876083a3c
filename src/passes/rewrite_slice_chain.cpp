// A Slice of a Slice becomes one; a Slice that stays within one input of a Concat reads that input; a Concat of Concats
// along the same axis becomes one.
#include <algorithm>

#include "passes/match.h"
#include "passes/pass.h"
#include "passes/rewrite.h"

namespace headway {
namespace {

const Knob<std::string_view> enabled{{
    .name = "rewrite_slice_chain",
    .help = "Merges Slices of Slices and Concats, and Concats of Concats.",
    .family = "rewrite",
    .values = {"on", "off"},
    .numerics = Numerics::exact,
    .witness = "slice_chain",
}};

bool steps_forward(const SliceRange& range) {
    return std::ranges::all_of(range.steps, [](int64_t step) { return step > 0; });
}

void slice_as(PassContext& context, ValueId result, ValueId source, const SliceRange& range,
              std::vector<std::string> origins) {
    Graph& graph = context.graph;
    const Shape shape = graph.value(result).shape();
    std::vector<int64_t> ends, axes;
    for (size_t axis = 0; axis < shape.rank(); ++axis) {
        const int64_t extent = shape[axis];
        ends.push_back(extent == 0 ? range.starts[axis] : range.starts[axis] + (extent - 1) * range.steps[axis] + 1);
        axes.push_back(static_cast<int64_t>(axis));
    }
    const std::string hint = graph.value(result).name;
    append_as(context, result, "Slice",
              {source, add_integers(graph, hint + ".starts", range.starts), add_integers(graph, hint + ".ends", ends),
               add_integers(graph, hint + ".axes", axes), add_integers(graph, hint + ".steps", range.steps)},
              {}, std::move(origins));
}

bool merge_slices(PassContext& context, NodeId id, const SliceRange& range) {
    Graph& graph = context.graph;
    const NodeId above = made_by(graph, graph.node(id).inputs[0], "Slice");
    if (above == no_node) return false;
    const std::optional<SliceRange> first = slice_range(graph, graph.node(above));
    if (!first || !steps_forward(*first)) return false;
    SliceRange both = range;
    for (size_t axis = 0; axis < both.starts.size(); ++axis) {
        both.starts[axis] = first->starts[axis] + range.starts[axis] * first->steps[axis];
        both.steps[axis] = first->steps[axis] * range.steps[axis];
    }
    const std::vector<std::string> origins = merged_origins(graph, {id, above});
    slice_as(context, graph.node(id).outputs[0], graph.node(above).inputs[0], both, origins);
    return true;
}

bool slice_one_input(PassContext& context, NodeId id, SliceRange range) {
    Graph& graph = context.graph;
    const ValueId source = graph.node(id).inputs[0], result = graph.node(id).outputs[0];
    const NodeId concat = made_by(graph, source, "Concat");
    if (concat == no_node || graph.value(result).shape().elements() == 0) return false;
    const auto axis = static_cast<size_t>(
        normalized_axis(graph.node(concat).attributes.integer("axis", 1), graph.value(source).shape().rank()));
    const int64_t last = range.starts[axis] + (graph.value(result).shape()[axis] - 1) * range.steps[axis];
    int64_t begin = 0;
    for (ValueId input : graph.node(concat).inputs) {
        const int64_t end = begin + graph.value(input).shape()[axis];
        if (range.starts[axis] >= begin && last < end) {
            range.starts[axis] -= begin;
            slice_as(context, result, input, range, merged_origins(graph, {id, concat}));
            return true;
        }
        begin = end;
    }
    return false;
}

bool merge_concats(PassContext& context, NodeId id) {
    Graph& graph = context.graph;
    const Node node = graph.node(id);
    const size_t rank = graph.value(node.outputs[0]).shape().rank();
    const int64_t axis = normalized_axis(node.attributes.integer("axis", 1), rank);
    const Uses uses(graph);
    std::vector<ValueId> inputs;
    std::vector<NodeId> nodes{id};
    for (ValueId input : node.inputs) {
        const NodeId above = made_by(graph, input, "Concat");
        if (above != no_node && uses.is_sole(input) &&
            normalized_axis(graph.node(above).attributes.integer("axis", 1), rank) == axis) {
            nodes.push_back(above);
            inputs.insert(inputs.end(), graph.node(above).inputs.begin(), graph.node(above).inputs.end());
        } else {
            inputs.push_back(input);
        }
    }
    if (nodes.size() < 2) return false;
    append_as(context, node.outputs[0], "Concat", std::move(inputs), node.attributes, merged_origins(graph, nodes));
    return true;
}

bool run(PassContext& context) {
    Graph& graph = context.graph;
    return rewrite_each(graph, [&](NodeId id) {
        const Node& node = graph.node(id);
        const std::string site = site_of(graph, id);
        bool done = false;
        if (is_op(node, "Slice")) {
            const std::optional<SliceRange> range = slice_range(graph, node);
            done = range && steps_forward(*range) &&
                   (merge_slices(context, id, *range) || slice_one_input(context, id, *range));
        } else if (is_op(node, "Concat")) {
            done = merge_concats(context, id);
        }
        if (done) context.taken(site, "merge");
        return done;
    });
}

const Pass rewrite_slice_chain{{
    .name = "rewrite_slice_chain",
    .help = "Merges chains of Slices and Concats.",
    .enabled = &enabled,
    .run = run,
}};

}  // namespace
}  // namespace headway
