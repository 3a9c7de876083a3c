// What the targets on graphs share: running small ones, whatever they hold.
#pragma once

#include <vector>

#include "compile/compile.h"
#include "graph/graph.h"
#include "tensor/tensor.h"

namespace headway::fuzz {

const Catalogue& catalogue();

// Open extents become 2 in equal symbols and in unknown ones. UserError when an input is no tensor of numbers.
Bindings small_bindings(const Graph& graph);

// Small numbers for the inputs of a graph, under its bindings.
std::vector<Tensor> small_inputs(const Graph& graph, const Bindings& bindings);

// Shape rules, then references.
void interpret_graph(const Graph& graph);
// The whole compiler, then the engine; both only where that is a matter of milliseconds.
void build_and_run(const Graph& graph);

}  // namespace headway::fuzz
