// What passes do to a graph: make nodes, replace values without losing a graph output's name, keep origins.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "ops/op.h"
#include "passes/pass.h"

namespace headway {

// The opset version that passes write new nodes for.
int rewrite_version(std::string_view op);

// Origins of what replaces these nodes: the anchor's, which stands first, then the others', without repetition.
std::vector<std::string> merged_origins(const Graph& graph, std::initializer_list<NodeId> nodes);
std::vector<std::string> merged_origins(const Graph& graph, const std::vector<NodeId>& nodes);
const std::string& site_of(const Graph& graph, NodeId node);

// A new node with one new output, whose type and shape are inferred; returns the output. `op` is a name of ONNX, or
// domain/name.
ValueId append(PassContext& context, std::string_view op, std::vector<ValueId> inputs, Attributes attributes,
               std::vector<std::string> origins);
// The same, computing the existing value `output`, whose present producer is erased: readers and the name of a graph
// output stay. InternalError when the inferred type or shape is another.
NodeId append_as(PassContext& context, ValueId output, std::string_view op, std::vector<ValueId> inputs,
                 Attributes attributes, std::vector<std::string> origins);

// The same with a node as it is, whatever its domain.
NodeId append_as(PassContext& context, ValueId output, Node node);

// All that read `from`, which a node computes, read `to` instead, and that node is erased if nothing else of it is
// read. A graph output keeps its name: `to` takes the name over, or, when it cannot (a graph input, a constant or
// another graph output), an Identity stands between them. False, and nothing done, when the node is that Identity
// already.
bool replace_value(PassContext& context, ValueId from, ValueId to);

// Calls `visit` with each node that was there at the start, makers before readers, unless an earlier visit has erased
// it. Whether any visit returned true, which says that it changed something.
template <class Visit>
bool rewrite_each(const Graph& graph, const std::vector<NodeId>& order, Visit visit) {
    bool changed = false;
    for (NodeId id : order)
        if (!graph.node(id).dead) changed = visit(id) || changed;
    return changed;
}
template <class Visit>
bool rewrite_each(const Graph& graph, Visit visit) {
    return rewrite_each(graph, graph.topological_order(), visit);
}

// Erases nodes of which no result is read; clears unread optional outputs of nobody else. Returns how many were erased.
int erase_dead_nodes(Graph& graph);

ValueId add_floats(Graph& graph, std::string_view hint, Shape shape, const std::vector<double>& values);
ValueId add_integers(Graph& graph, std::string_view hint, const std::vector<int64_t>& values);

Attributes attributes_with(Attributes attributes, std::string name, AttributeValue value);

}  // namespace headway
