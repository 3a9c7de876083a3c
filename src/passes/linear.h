// Scaling and shifting a linear operator (Conv, ConvTranspose, Gemm, MatMul) by way of its constant weights. New
// constants are made every time: weights may be shared with nodes that are not scaled.
#pragma once

#include <optional>
#include <vector>

#include "base/verdict.h"
#include "graph/graph.h"
#include "passes/pass.h"

namespace headway {

// A linear operator with constant f32 weights and an absent or constant bias.
struct Linear {
    NodeId node = no_node;
    size_t out_axis = 0;  // channels in the result
    int64_t out_channels = 0;
    size_t in_axis = 0;  // channels in the input
    int64_t in_channels = 0;
    bool has_bias_input = false;  // false for MatMul
    bool pads = false;            // reads values outside its input as zeros
};

// Nothing, with the reason in `why`, if the node is no such operator.
std::optional<Linear> linear_at(const Graph& graph, NodeId node, Verdict& why);

// y -> y * scale + shift per output channel (empty = 1 or 0). The node `result` stands for now becomes the new linear
// operator. A no, with nothing done, when a weight would not be finite any more, or a shift is needed and impossible.
Verdict scale_result(PassContext& context, const Linear& linear, const std::vector<double>& scale,
                     const std::vector<double>& shift, ValueId result, std::vector<std::string> origins);

// The linear operator reads `input` and computes what it would of input * scale + shift per input channel.
Verdict scale_input(PassContext& context, const Linear& linear, const std::vector<double>& scale,
                    const std::vector<double>& shift, ValueId input, std::vector<std::string> origins);

}  // namespace headway
