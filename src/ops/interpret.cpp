#include "base/text.h"
#include "ops/execute.h"

namespace headway {
namespace {

constexpr int max_depth = 64;  // of nested sub-graphs and Groups; the importer's limit is lower

// The tensors of one graph while it runs. Sub-graphs find outer values by name along `outer`.
struct Scope {
    const Graph& graph;
    const Scope* outer = nullptr;
    int depth = 0;
    std::vector<std::optional<Tensor>> values;

    const Tensor* find(ValueId id) const {
        if (values[static_cast<size_t>(id)]) return &*values[static_cast<size_t>(id)];
        return graph.constant(id);
    }
    const Tensor* find(std::string_view name) const {
        const ValueId id = graph.find_value(name);
        const Tensor* tensor = id == no_value ? nullptr : find(id);
        return tensor != nullptr || outer == nullptr ? tensor : outer->find(name);
    }
    const Tensor& get(ValueId id) const {
        const Tensor* tensor = find(id);
        if (tensor == nullptr && outer != nullptr) tensor = outer->find(graph.value(id).name);
        if (tensor == nullptr)
            throw UserError("value '" + escaped(graph.value(id).name) + "' is read but never produced");
        return *tensor;
    }
};

std::vector<Tensor> interpret_in(const Graph& graph, std::span<const Tensor> inputs, const Registry<Op>& ops,
                                 const Scope* outer, int depth);

const Graph& taken_branch(const Node& node, const Tensor& condition) {
    if (condition.elements() != 1) throw UserError("the condition must hold one element");
    const std::string_view wanted = condition.at(0) != 0 ? "then_branch" : "else_branch";
    for (const Subgraph& subgraph : node.subgraphs)
        if (subgraph.attribute == wanted) return *subgraph.graph;
    throw UserError("has no " + std::string(wanted));
}

std::vector<Tensor> run_node(const Scope& scope, const Node& node, const Registry<Op>& ops) {
    std::vector<const Tensor*> inputs;
    for (ValueId input : node.inputs) inputs.push_back(input == no_value ? nullptr : &scope.get(input));
    if (node.subgraphs.empty()) return run_reference(scope.graph, node, inputs, ops);
    if (node.op != "If" || inputs.size() != 1 || inputs[0] == nullptr)
        throw Unsupported("control flow other than If is not supported");
    const Graph& branch = taken_branch(node, *inputs[0]);
    std::vector<Tensor> outputs = interpret_in(branch, {}, ops, &scope, scope.depth + 1);
    if (outputs.size() != node.outputs.size()) throw UserError("its branch has another number of outputs");
    return outputs;
}

// How often each value is still to be read; graph outputs count as one more reading that never happens.
std::vector<int> readings(const Graph& graph) {
    std::vector<int> counts(static_cast<size_t>(graph.value_count()), 0);
    for (NodeId id = 0; id < graph.node_count(); ++id) {
        if (graph.node(id).dead) continue;
        for (ValueId input : graph.node(id).inputs)
            if (input != no_value) ++counts[static_cast<size_t>(input)];
        // Captured values are not among the inputs, so nothing may be freed around a sub-graph.
        if (!graph.node(id).subgraphs.empty()) counts.assign(counts.size(), graph.node_count());
    }
    for (ValueId output : graph.outputs) ++counts[static_cast<size_t>(output)];
    return counts;
}

std::vector<Tensor> interpret_in(const Graph& graph, std::span<const Tensor> inputs, const Registry<Op>& ops,
                                 const Scope* outer, int depth) {
    if (depth > max_depth) throw UserError("sub-graphs are nested deeper than " + std::to_string(max_depth));
    if (inputs.size() != graph.inputs.size())
        throw UserError("the graph has " + std::to_string(graph.inputs.size()) + " inputs but " +
                        std::to_string(inputs.size()) + " were given");
    Scope scope{graph, outer, depth, {}};
    scope.values.resize(static_cast<size_t>(graph.value_count()));
    for (size_t i = 0; i < inputs.size(); ++i) scope.values[static_cast<size_t>(graph.inputs[i])] = inputs[i];

    std::vector<int> left = readings(graph);
    for (NodeId id : graph.topological_order()) {
        const Node& node = graph.node(id);
        std::vector<Tensor> outputs = naming(node, [&] { return run_node(scope, node, ops); });
        for (size_t i = 0; i < node.outputs.size(); ++i)
            if (node.outputs[i] != no_value) scope.values[static_cast<size_t>(node.outputs[i])] = std::move(outputs[i]);
        for (ValueId input : node.inputs)
            if (input != no_value && --left[static_cast<size_t>(input)] == 0)
                scope.values[static_cast<size_t>(input)].reset();
    }
    std::vector<Tensor> outputs;
    for (ValueId output : graph.outputs) outputs.push_back(scope.get(output));
    return outputs;
}

}  // namespace

std::vector<Tensor> run_reference(const Graph&, const Node& node, std::span<const Tensor* const> inputs,
                                  const Registry<Op>& ops) {
    if (node.body != nullptr) {
        std::vector<Tensor> given;
        for (const Tensor* input : inputs) {
            HEADWAY_CHECK(input != nullptr);
            given.push_back(*input);
        }
        return interpret(*node.body, given, ops);
    }
    const Op& op = op_of(node, ops);
    if (!op.fields().reference) throw Unsupported("it can only be run as part of a graph");
    const auto descs = infer_outputs(op, node, inputs);
    std::vector<Tensor> outputs(descs.size());
    std::vector<Tensor*> wanted(descs.size(), nullptr);
    for (size_t i = 0; i < descs.size(); ++i) {
        if (!descs[i]) continue;
        outputs[i] = Tensor(descs[i]->type, descs[i]->shape);
        wanted[i] = &outputs[i];
    }
    op.fields().reference({node.attributes, node.version, inputs, wanted});
    return outputs;
}

std::vector<Tensor> interpret(const Graph& graph, std::span<const Tensor> inputs, const Registry<Op>& ops) {
    return interpret_in(graph, inputs, ops, nullptr, 0);
}

}  // namespace headway
