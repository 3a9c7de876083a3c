// Files of pass tests: cases of a graph before and after one pass (or `pipeline`).
//
//     case scales weights
//     pass fold_batch_norm
//     route fold_affine=off          # optional
//     refuses consumers              # optional: a refusal with this reason must be recorded
//     before
//     graph {...}
//     after                          # or `after unchanged`
//     graph {...}
//
// `#` lines between cases are comments.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "ops/op.h"

namespace headway {

struct PassCase {
    std::string file = {}, name = {}, pass = {}, route = {}, refuses = {}, before = {}, after = {};
    bool unchanged = false;
};

// For gtest's messages.
inline void PrintTo(const PassCase& one, std::ostream* stream) { *stream << one.file << ".txt: " << one.name; }

std::vector<PassCase> read_cases(const std::string& path);
std::vector<PassCase> all_cases();

// The graph of a text with all types and shapes inferred.
Graph bound_graph(const std::string& text, const Registry<Op>& ops);
Graph witness_graph(const std::string& name, const Registry<Op>& ops);
// Those whose extents are all fixed: passes see no others.
std::vector<std::string> witness_names();

// The same tensors every time for the inputs of a graph.
std::vector<Tensor> inputs_for(const Graph& graph);

// How two graphs differ in nodes, attributes, connections, shapes, and names of graph inputs and outputs; "" when they
// do not. Names of inner values, origins, and values of constants (judged by running both graphs) are not compared.
std::string difference(const Graph& got, const Graph& wanted);

}  // namespace headway
