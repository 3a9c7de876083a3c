#pragma once

#include "graph/graph.h"

namespace headway {

// Gives a node in a form of opset 8 and older today's form, the only one that passes and kernels know: operands whose
// shapes broadcast by themselves (see ops/legacy_broadcast.h), attributes by their later names, operands where later
// versions have them (see ops/first_forms.h), statistics for each channel. Other nodes stay as they are. UserError when
// operands do not fit.
void modernize_node(Graph& graph, NodeId id);

}  // namespace headway
