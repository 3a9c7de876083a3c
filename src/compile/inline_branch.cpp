#include "compile/inline_branch.h"

#include <algorithm>
#include <unordered_map>

#include "base/error.h"
#include "base/text.h"

namespace headway {
namespace {

const Graph& taken_branch(const Graph& graph, const Node& node) {
    const std::string name = node.origins.empty() ? "If" : escaped(node.origins.front());
    const Tensor* condition = node.inputs.empty() ? nullptr : graph.constant(node.inputs[0]);
    if (condition == nullptr)
        throw Unsupported("If " + name +
                          ": its condition is known only at run time; if it depends on a small integer "
                          "input, fix that input with --value NAME=NUMBER");
    if (condition->elements() != 1) throw UserError("If " + name + ": the condition is not a single value");
    const std::string wanted = condition->at(0) != 0 ? "then_branch" : "else_branch";
    for (const Subgraph& subgraph : node.subgraphs)
        if (subgraph.attribute == wanted && subgraph.graph) return *subgraph.graph;
    throw UserError("If " + name + " has no " + wanted);
}

// Names that a sub-graph of a branch node captures from outside may point at branch values that get new names here.
void rename_captures(Graph& graph, const std::unordered_map<std::string, std::string>& renamed) {
    for (ValueId id = 0; id < graph.value_count(); ++id) {
        Value& value = graph.value(id);
        // Only captures: values that nothing in the sub-graph makes.
        if (value.producer != no_node || value.constant) continue;
        if (std::find(graph.inputs.begin(), graph.inputs.end(), id) != graph.inputs.end()) continue;
        if (const auto at = renamed.find(value.name); at != renamed.end()) value.name = at->second;
    }
    for (NodeId id = 0; id < graph.node_count(); ++id)
        for (Subgraph& inner : graph.node(id).subgraphs) {
            inner.graph = std::make_shared<Graph>(*inner.graph);
            rename_captures(*inner.graph, renamed);
        }
}

}  // namespace

void inline_taken_branch(Graph& graph, NodeId if_node) {
    const Graph branch = taken_branch(graph, graph.node(if_node));
    const std::vector<ValueId> results = graph.node(if_node).outputs;
    const std::vector<std::string> origins = graph.node(if_node).origins;
    if (results.size() > branch.outputs.size())
        throw UserError("If " + escaped(graph.node(if_node).origins.front()) + ": the branch gives too few outputs");

    std::unordered_map<std::string, ValueId> outer;
    for (ValueId id = 0; id < graph.value_count(); ++id) outer.emplace(graph.value(id).name, id);

    std::vector<ValueId> mapped(static_cast<size_t>(branch.value_count()), no_value);
    std::unordered_map<std::string, std::string> renamed;
    for (ValueId id = 0; id < branch.value_count(); ++id) {
        const Value& value = branch.value(id);
        const bool made_inside = value.producer != no_node || value.constant.has_value();
        if (!made_inside) {
            const auto captured = outer.find(value.name);
            if (captured == outer.end())
                throw UserError("If " + escaped(graph.node(if_node).origins.front()) + ": the branch reads \"" +
                                escaped(value.name) + "\", which does not exist outside");
            mapped[static_cast<size_t>(id)] = captured->second;
            continue;
        }
        // Names are kept where they are free, so that errors and taps speak of the file's own names.
        const ValueId copy = outer.contains(value.name) ? graph.add_fresh_value(value.name, value.type)
                                                        : graph.add_value(value.name, value.type);
        outer.emplace(graph.value(copy).name, copy);
        if (graph.value(copy).name != value.name) renamed.emplace(value.name, graph.value(copy).name);
        graph.value(copy).constant = value.constant;
        graph.value(copy).dims = value.constant ? value.dims : std::nullopt;
        mapped[static_cast<size_t>(id)] = copy;
    }
    graph.erase_node(if_node);
    for (NodeId id : branch.topological_order()) {
        Node node = branch.node(id);
        for (ValueId& input : node.inputs)
            if (input != no_value) input = mapped[static_cast<size_t>(input)];
        for (ValueId& output : node.outputs)
            if (output != no_value) output = mapped[static_cast<size_t>(output)];
        for (Subgraph& inner : node.subgraphs) {
            inner.graph = std::make_shared<Graph>(*inner.graph);
            rename_captures(*inner.graph, renamed);
        }
        graph.add_node(std::move(node));
    }
    // The results keep their values: graph outputs keep their names, and later branches may capture them by name.
    for (size_t k = 0; k < results.size(); ++k) {
        if (results[k] == no_value) continue;
        Node copy;
        copy.op = "Identity";
        copy.version = 1;
        copy.inputs = {mapped[static_cast<size_t>(branch.outputs[k])]};
        copy.outputs = {results[k]};
        copy.origins = origins;
        graph.value(results[k]).dims.reset();
        graph.add_node(std::move(copy));
    }
}

}  // namespace headway
