// A tree of multiplications seen as one product: c * f0 * f1 * ..., so that patterns need not spell every order.
#pragma once

#include <optional>
#include <vector>

#include "graph/graph.h"
#include "passes/match.h"

namespace headway {

struct Product {
    double constant = 1;
    std::vector<ValueId> factors;
    std::vector<NodeId> nodes;  // the root first; all but it are read by this product only
};

// The product that a Mul, a Div by a number, or a Pow by 2 or 3 is the root of, on f32 values. Nothing for other nodes.
// Inner nodes join when nobody else reads them; numbers are constants whose elements are all equal.
std::optional<Product> product_of(const Graph& graph, const Uses& uses, NodeId root);

// A value limited to a range: a Clip, or a Min and a Max or Relu with numbers.
struct Limited {
    ValueId inner = no_value;
    float low = 0, high = 0;
    std::vector<NodeId> nodes;
};
std::optional<Limited> limited(const Graph& graph, const Uses& uses, ValueId value);

// A value plus a number.
struct Shifted {
    ValueId inner = no_value;
    double shift = 0;
    NodeId node = no_node;
};
std::optional<Shifted> shifted(const Graph& graph, ValueId value);

}  // namespace headway
