// A site of lowering: one node or Group seen as a problem for kernels, before layouts are chosen.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"
#include "kernels/kernel.h"
#include "ops/op.h"

namespace headway {

struct LowerSite {
    std::vector<std::string> origins;  // anchor first
    Problem problem;                   // every layout plain
    std::vector<ValueId> src;          // at ONNX positions; no_value where absent
    std::vector<ValueId> operands;
    std::vector<ValueId> dst;
    // The node itself when it may be a view (see views.h), else no_node.
    NodeId view_of = no_node;
};

// The problem of a live node. Elementwise f32 nodes without a Group become Pointwise problems of one instruction, so
// that there is one way to run them. Constants of a Group's body become constants of `graph`.
LowerSite make_site(Graph& graph, NodeId id);

// The two halves of a site with an epilogue that no kernel takes whole: the anchor alone, writing a new value of
// `graph`, and a Pointwise site that reads it.
std::vector<LowerSite> split_site(Graph& graph, const LowerSite& site);

}  // namespace headway
