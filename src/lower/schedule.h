// The order in which the nodes of a graph run.
#pragma once

#include <vector>

#include "graph/graph.h"
#include "knobs/route.h"

namespace headway {

std::vector<NodeId> scheduled_order(const Graph& graph, const Route& route);

}  // namespace headway
