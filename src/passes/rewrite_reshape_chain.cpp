// Chains of Reshape, Squeeze, Unsqueeze, Flatten, and Transposes that move only axes of extent 1, become one Reshape.
#include <algorithm>

#include "passes/match.h"
#include "passes/pass.h"
#include "passes/rewrite.h"

namespace headway {
namespace {

const Knob<std::string_view> enabled{{
    .name = "rewrite_reshape_chain",
    .help = "Merges chains of operators that only change the shape into one Reshape.",
    .family = "rewrite",
    .values = {"on", "off"},
    .numerics = Numerics::exact,
    .witness = "reshape_round_trip",
}};

bool keeps_element_order(const Graph& graph, const Node& node) {
    if (!node.domain.empty()) return false;
    if (node.op == "Reshape" || node.op == "Squeeze" || node.op == "Unsqueeze" || node.op == "Flatten") return true;
    if (node.op != "Transpose") return false;
    const Shape shape = graph.value(node.inputs[0]).shape();
    int64_t last = -1;
    for (int64_t axis : node.attributes.integers("perm")) {
        if (shape[static_cast<size_t>(axis)] == 1) continue;
        if (axis < last) return false;
        last = axis;
    }
    return node.attributes.has("perm");
}

void reshape(PassContext& context, ValueId result, ValueId source, std::vector<std::string> origins) {
    Graph& graph = context.graph;
    const Shape shape = graph.value(result).shape();
    Attributes attributes;
    // Otherwise a zero extent would mean "as in the input".
    if (std::ranges::find(shape, 0) != shape.end()) attributes.set("allowzero", int64_t{1});
    const ValueId target = add_integers(graph, graph.value(result).name + ".shape", shape.dims());
    append_as(context, result, "Reshape", {source, target}, std::move(attributes), std::move(origins));
}

bool run(PassContext& context) {
    Graph& graph = context.graph;
    return rewrite_each(graph, [&](NodeId id) {
        const Node& node = graph.node(id);
        if (!keeps_element_order(graph, node)) return false;
        const ValueId result = node.outputs[0];
        ValueId source = node.inputs[0];
        std::vector<NodeId> nodes{id};
        for (NodeId above = graph.value(source).producer;
             above != no_node && keeps_element_order(graph, graph.node(above)); above = graph.value(source).producer) {
            nodes.push_back(above);
            source = graph.node(above).inputs[0];
        }
        if (nodes.size() < 2 && node.op != "Transpose") return false;
        const std::string site = site_of(graph, id);
        reshape(context, result, source, merged_origins(graph, nodes));
        context.taken(site, "merge " + std::to_string(nodes.size()));
        return true;
    });
}

const Pass rewrite_reshape_chain{{
    .name = "rewrite_reshape_chain",
    .help = "Merges chains of shape changes.",
    .enabled = &enabled,
    .run = run,
}};

}  // namespace
}  // namespace headway
