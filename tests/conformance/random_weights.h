// Weights for ONNX's light networks, whose own are all equal: every output of such a network is nearly the same number,
// which hides wrong channels, axes and orders.
#pragma once

#include <cstdint>

#include "graph/graph.h"

namespace headway::conformance {

// Each ConstantOfShape becomes a constant of seeded random values: of matrices and filters with deviation
// sqrt(2 / fan-in), so that activations keep their scale through a deep network; of variances between 0.5 and 1.5; of
// other vectors 1 or 0, as the network had them, with deviation 0.1.
Graph with_random_weights(Graph graph, uint64_t seed);

}  // namespace headway::conformance
