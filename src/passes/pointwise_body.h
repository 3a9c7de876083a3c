// The one place that knows which ONNX operators are pointwise f32 arithmetic and how they become step programs
// (kernels/program.h). Grouping asks it what may be fused; lowering asks it for the program of a Group's body.
//
// A Group's inputs are the run-time values that its body reads; every constant lives in the body. The anchor, if there
// is one, is the body's only node that is not pointwise.
#pragma once

#include <optional>
#include <vector>

#include "base/verdict.h"
#include "graph/graph.h"
#include "kernels/program.h"

namespace headway {

// Whether the node is one of the pointwise operators, on f32, with attributes and bounds known at build time. Says
// nothing about shapes: its inputs broadcast to its output as ONNX does.
Verdict is_pointwise(const Graph& graph, const Node& node);

enum class PointwiseClass {
    arithmetic,  // Add, Mul, Neg, ...: cheap, no activation function
    relu,        // Relu
    clip,        // Clip
    activation,  // everything else: Sigmoid, HardSwish, Exp, ...
};
PointwiseClass pointwise_class(const Node& node);

// What a body computes after (or without) its anchor.
struct PointwiseBody {
    NodeId anchor = no_node;        // id in the body; no_node for a body of pointwise nodes only
    Program program;                // register 0 is outputs[0] of the anchor
    std::vector<ValueId> operands;  // body values that `load k` reads, by k: body inputs or body constants
};

// Nothing, with the reason in `why` when given, if the body is not one anchor followed by pointwise nodes, if an
// intermediate result has another shape than the result, or if it needs more than Program::max_registers.
// program.results are the registers of body.outputs in order.
std::optional<PointwiseBody> program_of(const Graph& body, Verdict* why = nullptr);

// The body graph of a Group made of these nodes (in topological order), with `results` as its outputs. `inputs`
// receives the values of `graph` that the Group reads, in the order of the body's inputs: the first node's first.
Graph body_of(const Graph& graph, const std::vector<NodeId>& nodes, const std::vector<ValueId>& results,
              std::vector<ValueId>& inputs);

}  // namespace headway
