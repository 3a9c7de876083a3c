// The graph: values and nodes by integer id, no pointers between them.
//
// Meaning. A node computes its outputs from its inputs as the ONNX operator of its name, domain and opset version does;
// every value has one producer (a node, a graph input or a constant). Shapes may hold symbols until they are bound; no
// pass after binding sees a symbol. NaN propagates through Max, Min, Relu and Clip; rounding is to nearest even;
// integer arithmetic wraps; float arithmetic may be reordered only by passes and kernels whose knob says `reorders`. A
// Group node stands for its body graph: same inputs, same outputs. The body is its reference and names its origins.
// Origins are the names of the ONNX nodes a node came from (the anchor first); rewriting keeps them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tensor/attributes.h"
#include "tensor/layout.h"
#include "tensor/tensor.h"

namespace headway {

using ValueId = int32_t;
using NodeId = int32_t;
inline constexpr ValueId no_value = -1;  // an absent optional input or output
inline constexpr NodeId no_node = -1;

// An extent: a number, or a symbol ("batch"; "?" for an unnamed unknown) until it is bound.
struct Dim {
    int64_t extent = -1;
    std::string symbol;
    bool known() const { return extent >= 0; }
    bool operator==(const Dim&) const = default;
};

class Graph;

// What a graph's inputs and outputs are declared to be. Only the interpreter handles others than tensors.
enum class DeclaredKind : uint8_t { tensor, sequence, optional };
// "tensor", "sequence", "optional".
std::string_view to_string(DeclaredKind kind);

struct Value {
    std::string name;  // unique in its graph, never empty
    ElementType type = ElementType::undefined;
    std::optional<std::vector<Dim>> dims;      // nothing = rank unknown
    std::optional<Tensor> constant;            // known at build time
    NodeId producer = no_node;                 // no_node for graph inputs and constants
    DeclaredKind kind = DeclaredKind::tensor;  // of inner values not known: `tensor`, whatever they hold

    bool has_static_shape() const;
    Shape shape() const;  // InternalError unless static
    void set_shape(const Shape& shape);
};

struct Subgraph {
    std::string attribute;  // "then_branch", "body"
    std::shared_ptr<Graph> graph;
};

struct Node {
    std::string op;                // ONNX operator name, or "Group"
    std::string domain;            // "" = ai.onnx
    int version = 0;               // opset version of its domain in the file it came from
    std::vector<ValueId> inputs;   // no_value where absent
    std::vector<ValueId> outputs;  // no_value where unused
    Attributes attributes;
    std::vector<Subgraph> subgraphs;    // ONNX control flow; values captured by name from the outer graph
    std::shared_ptr<const Graph> body;  // of a Group
    std::vector<std::string> origins;   // never empty after import; the first is the anchor
    bool dead = false;                  // erased; ids stay stable until compact()
};

class Graph {
public:
    std::vector<ValueId> inputs;
    std::vector<ValueId> outputs;

    ValueId add_value(std::string name, ElementType type = ElementType::undefined);
    // A value with a name not yet used, derived from `hint`.
    ValueId add_fresh_value(std::string_view hint, ElementType type = ElementType::undefined);
    ValueId add_constant(std::string_view hint, Tensor tensor);
    NodeId add_node(Node node);  // sets the producers of its outputs

    Value& value(ValueId id) { return values_[static_cast<size_t>(id)]; }
    const Value& value(ValueId id) const { return values_[static_cast<size_t>(id)]; }
    Node& node(NodeId id) { return nodes_[static_cast<size_t>(id)]; }
    const Node& node(NodeId id) const { return nodes_[static_cast<size_t>(id)]; }
    int32_t value_count() const { return static_cast<int32_t>(values_.size()); }
    int32_t node_count() const { return static_cast<int32_t>(nodes_.size()); }
    ValueId find_value(std::string_view name) const;  // no_value when absent; linear

    bool is_constant(ValueId id) const { return id != no_value && value(id).constant.has_value(); }
    const Tensor* constant(ValueId id) const { return is_constant(id) ? &*value(id).constant : nullptr; }

    void erase_node(NodeId id);
    // All readers of `from` (nodes and graph outputs) read `to` from now on. Names of graph outputs are kept by the
    // caller's choice: see passes/rewrite.h.
    void replace_uses(ValueId from, ValueId to);

    // Live nodes, each after the producers of its inputs; among free nodes, in order of id. InternalError on a cycle.
    std::vector<NodeId> topological_order() const;
    // For each value the live nodes that read it (once per reading input), graph outputs not counted.
    std::vector<std::vector<NodeId>> consumers() const;
    bool is_output(ValueId id) const;

    // Drops dead nodes and unread constants; renumbers nodes into topological order. Ids held outside become invalid.
    void compact();

private:
    std::vector<Value> values_;
    std::vector<Node> nodes_;
    int64_t fresh_ = 0;
};

}  // namespace headway
