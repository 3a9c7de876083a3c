// How much computing a node asks for, from its shapes alone: a file of 200 bytes can ask for years of it.
#pragma once

#include <cstdint>
#include <span>

#include "graph/graph.h"

namespace headway {

// The multiply-adds, or the elements visited, when the node is run by its reference: an upper bound that is close for
// what models hold, since a call is refused by it; INT64_MAX where it does not fit. Where the work depends on values,
// the reference charges it as it goes. Shapes of all inputs and outputs, nullptr where one is absent.
int64_t reference_work(const Node& node, std::span<const Shape* const> inputs, std::span<const Shape* const> outputs);

// The same for a node of a bound graph with whatever values, and how much of it may be computed while a model is built:
// seconds.
int64_t building_work(const Graph& graph, const Node& node);
inline constexpr int64_t most_building_work = int64_t{1} << 32;

}  // namespace headway
