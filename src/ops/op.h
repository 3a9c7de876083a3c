// An operator: one named constant per file holding its meaning. `infer` sets the types and shapes of the outputs,
// `reference` computes them with plain loops, accumulating in double, on plain-layout tensors. The reference is also
// registered as kernel `ref.<Op>`, so every operator runs even where no fast kernel exists.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/registry.h"
#include "graph/graph.h"
#include "kernels/kernel.h"
#include "ops/types.h"
#include "tensor/datum.h"

namespace headway {

// The view of one node that a shape rule gets: static shapes and known types; values only where constant() says so.
class InferContext {
public:
    struct Input {
        bool present = false;
        ElementType type = ElementType::undefined;
        Shape shape;
        const Tensor* constant = nullptr;
    };
    InferContext(const Node& node, std::vector<Input> inputs)
        : node_(node), inputs_(std::move(inputs)), outputs_(node.outputs.size()) {}

    const Node& node() const { return node_; }
    const Attributes& attributes() const { return node_.attributes; }
    int version() const { return node_.version; }
    size_t input_count() const { return inputs_.size(); }
    bool has(size_t input) const { return input < inputs_.size() && inputs_[input].present; }
    ElementType type(size_t input) const { return inputs_[input].type; }
    const Shape& shape(size_t input) const { return inputs_[input].shape; }
    const Tensor* constant(size_t input) const { return has(input) ? inputs_[input].constant : nullptr; }
    // constant() as integers; Unsupported when the value is not known at build time, UserError when it is not of
    // integers.
    std::vector<int64_t> required_integers(size_t input, const char* what) const;
    // constant(); Unsupported when the value is not known at build time.
    const Tensor& required(size_t input, const char* what) const;

    size_t output_count() const { return outputs_.size(); }
    void set_output(size_t index, ElementType type, Shape shape);
    const std::optional<TensorDesc>& output(size_t index) const { return outputs_[index]; }

private:
    const Node& node_;
    std::vector<Input> inputs_;
    std::vector<std::optional<TensorDesc>> outputs_;
};

// What a reference gets: node attributes and inputs (absent optional inputs are nullptr), and zero-filled outputs with
// the inferred types and shapes (unused outputs are nullptr).
struct ReferenceContext {
    const Attributes& attributes;
    int version;
    std::span<const Tensor* const> inputs;
    std::span<Tensor* const> outputs;

    const Tensor& in(size_t index) const { return *inputs[index]; }
    bool has(size_t index) const { return index < inputs.size() && inputs[index] != nullptr; }
    Tensor& out(size_t index) const { return *outputs[index]; }
    bool wants(size_t index) const { return index < outputs.size() && outputs[index] != nullptr; }
};

// What an operator on sub-graphs, sequences, optionals or strings gets (absent optional inputs are nullptr). The
// accessors throw UserError where an input is absent or of another kind.
struct InterpretContext {
    const Node& node;
    std::span<const Datum* const> inputs;
    // Runs a sub-graph of the node, which may read the values around the node.
    std::function<std::vector<Datum>(const Graph&, std::span<const Datum>)> run;

    const Attributes& attributes() const { return node.attributes; }
    bool has(size_t index) const { return index < inputs.size() && inputs[index] != nullptr; }
    const Datum& datum(size_t index) const;
    const Tensor& tensor(size_t index) const;
    const Strings& strings(size_t index) const;
    TensorValues values(size_t index) const;  // a tensor of numbers or of strings
    const Sequence& sequence(size_t index) const;
    const Graph& subgraph(std::string_view attribute) const;
};

struct AttributeDoc {
    std::string name, type, fallback, help;  // type: int, float, string, ints, floats, tensor, graph
};

// How many inputs or outputs a node may have. The first `least` ones may not be absent.
struct Count {
    size_t least = 1;
    size_t most = 1;
};
inline constexpr size_t any_number = SIZE_MAX;

// How far a correct fp32 implementation may be from the reference: |got-want| <= absolute + relative*|want|, where both
// grow with sqrt(accumulation length) relative to the values here.
struct Tolerance {
    double relative = 1e-5;
    double absolute = 1e-6;
};

class Op {
public:
    struct Fields {
        std::string name;
        std::string domain = "";
        std::vector<int> since;  // opset versions in which its definition changed, as handled here
        Count inputs = {};
        Count outputs = {};
        // Of the first input; empty: any. With strings among them the reference gives for the ranks of strings what it
        // gives for the strings, or there is an `interpret` for them: see StringRanks.
        TypeSet types = {};
        std::vector<AttributeDoc> attributes = {};
        // Empty for operators that only interpret() runs: no engine is built with them.
        std::function<void(InferContext&)> infer = {};
        std::function<void(const ReferenceContext&)> reference = {};
        // All outputs in order. Used where there is no reference, the node has sub-graphs, an input is not a tensor of
        // numbers, or the shape rule gives an output strings.
        std::function<std::vector<Datum>(const InterpretContext&)> interpret = {};
        Tolerance tolerance = {};
        bool data_movement = false;  // results are bit-equal copies of inputs
        std::string help;
    };
    // Announces itself, and its kernel `ref.<name>` when it has a reference.
    explicit Op(Fields fields);
    Op(const Op&) = delete;
    Op& operator=(const Op&) = delete;

    // "Conv", or "com.microsoft/Gelu".
    std::string_view name() const { return name_; }
    const Fields& fields() const { return fields_; }

private:
    Fields fields_;
    std::string name_;
    std::unique_ptr<const Kernel> reference_kernel_;
};

// "Conv", or "com.microsoft/Gelu": the name in the registry, and `op` of a node's Problem.
std::string qualified_name(std::string_view op, std::string_view domain);

// The operator of a node; Unsupported naming the node when it is not known or its version is older than the oldest
// handled one.
const Op& op_of(const Node& node, const Registry<Op>& ops);

// Runs infer and writes the results into the graph's output values (checking against types and shapes already there).
// UserError when an input's type or shape is not known. Outputs of an `If` whose condition is unknown stay as they are.
void infer_node(Graph& graph, NodeId id, const Registry<Op>& ops);

// Runs a node's reference on tensors; returns the outputs in order (unused ones empty). Groups run their body. Types
// and shapes of the outputs follow from the tensors, not from the graph, which may be unbound.
std::vector<Tensor> run_reference(const Node& node, std::span<const Tensor* const> inputs, const Registry<Op>& ops);

// Runs one of the node's sub-graphs on its inputs.
using RunSubgraph = std::function<std::vector<Datum>(const Graph&, std::span<const Datum>)>;
// Runs a node that may work on sub-graphs, sequences or optionals; absent optional inputs are nullptr.
std::vector<Datum> run_on_data(const Node& node, std::span<const Datum* const> inputs, const Registry<Op>& ops,
                               const RunSubgraph& run);

// Runs a whole graph by its references: inputs in the order of graph.inputs, outputs in that of graph.outputs.
std::vector<Datum> interpret_data(const Graph& graph, std::span<const Datum> inputs, const Registry<Op>& ops);
// Results that must be tensors; UserError naming the one that is not.
std::vector<Tensor> tensors_of(std::vector<Datum> outputs);
// The same where all inputs and outputs are tensors.
std::vector<Tensor> interpret(const Graph& graph, std::span<const Tensor> inputs, const Registry<Op>& ops);

}  // namespace headway
