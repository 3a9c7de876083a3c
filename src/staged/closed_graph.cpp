#include "staged/closed_graph.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/text.h"

namespace headway {
namespace {

using Names = std::set<std::string>;

std::vector<bool> inputs_of(const Graph& graph) {
    std::vector<bool> is_input(static_cast<size_t>(graph.value_count()), false);
    for (ValueId id : graph.inputs) is_input[static_cast<size_t>(id)] = true;
    return is_input;
}

// What the graph and the sub-graphs inside it read but do not define. Depth is bounded by the readers of graphs.
Names free_names(const Graph& graph) {
    Names free, defined;
    const std::vector<bool> is_input = inputs_of(graph);
    for (ValueId id = 0; id < graph.value_count(); ++id) {
        const Value& value = graph.value(id);
        const bool is_own = value.producer != no_node || value.constant || is_input[static_cast<size_t>(id)];
        (is_own ? defined : free).insert(value.name);
    }
    for (NodeId id = 0; id < graph.node_count(); ++id)
        for (const Subgraph& subgraph : graph.node(id).subgraphs)
            for (const std::string& name : free_names(*subgraph.graph))
                if (!defined.contains(name)) free.insert(name);
    return free;
}

}  // namespace

std::vector<std::string> captured_names(const Node& node) {
    Names names;
    for (const Subgraph& subgraph : node.subgraphs) names.merge(free_names(*subgraph.graph));
    return {names.begin(), names.end()};
}

ClosedGraph closed(const Graph& body, const Graph& outer,
                   const std::unordered_map<std::string, ValueId>& outer_values) {
    ClosedGraph result{body, {}};
    std::unordered_map<std::string, ValueId> own;
    for (ValueId id = 0; id < body.value_count(); ++id) own.emplace(body.value(id).name, id);
    for (const std::string& name : free_names(body)) {
        const auto outside = outer_values.find(name);
        if (outside == outer_values.end())
            throw UserError("a sub-graph reads '" + escaped(name) + "', which does not exist outside");
        const Value& source = outer.value(outside->second);
        const auto inside = own.find(name);
        const ValueId id = inside != own.end() ? inside->second : result.graph.add_value(name, source.type);
        Value& value = result.graph.value(id);
        value.type = source.type;
        if (source.constant) {
            value.dims = source.dims;
            value.constant = source.constant;
        } else {
            value.kind = source.kind;
            result.graph.inputs.push_back(id);
            result.captured.push_back(outside->second);
        }
    }
    return result;
}

}  // namespace headway
