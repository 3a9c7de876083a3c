// How much computing a node asks for, from its shapes alone: a file of 200 bytes can ask for years of it.
#pragma once

#include <cstdint>
#include <span>

#include "graph/graph.h"

namespace headway {

// An upper bound of the multiply-adds, or of the elements visited, when the node is run by its reference; INT64_MAX
// where that does not fit. Shapes of all inputs and outputs, nullptr where one is absent.
int64_t reference_work(const Node& node, std::span<const Shape* const> inputs, std::span<const Shape* const> outputs);

// The same for a node of a bound graph, and how much of it may be computed while a model is built: seconds.
int64_t building_work(const Graph& graph, const Node& node);
inline constexpr int64_t most_building_work = int64_t{1} << 32;

}  // namespace headway
