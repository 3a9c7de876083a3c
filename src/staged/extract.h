// Some nodes of a graph as a graph of their own.
#pragma once

#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "graph/graph.h"

namespace headway {

struct Extract {
    Graph graph;
    std::vector<ValueId> inputs;  // values of the source graph that are the extract's inputs, in order
};

// `nodes` in a legal order. Constants that they read come along; other values from outside are inputs; so is what their
// sub-graphs capture. `outputs` are values that the nodes produce. `names` finds the source's values by name.
Extract extract(const Graph& source, std::span<const NodeId> nodes, std::span<const ValueId> outputs,
                const std::unordered_map<std::string, ValueId>& names);

}  // namespace headway
