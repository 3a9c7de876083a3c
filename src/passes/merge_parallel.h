// Linear operators that read the same input become one whose result is split; shared by the passes for convolutions and
// for matrix products.
#pragma once

#include <vector>

#include "graph/graph.h"
#include "passes/pass.h"

namespace headway {

// Joins the constants along `axis`. All have the same extents along the others.
Tensor joined(const std::vector<Tensor>& parts, size_t axis);

// Computes the present results of `nodes` as the parts of `whole` along `axis`, and erases the nodes.
void split_as(PassContext& context, ValueId whole, const std::vector<NodeId>& nodes, size_t axis);

}  // namespace headway
