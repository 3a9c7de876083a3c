#include <algorithm>
#include <iterator>
#include <unordered_map>

#include "base/call_work.h"
#include "base/text.h"
#include "ops/execute.h"
#include "ops/string_ranks.h"
#include "ops/work.h"

namespace headway {
namespace {

constexpr int max_depth = 64;  // of nested sub-graphs and Groups; the importer's limit is lower

// What the values of one graph hold while it runs. Sub-graphs find outer values by name along `outer`.
struct Scope {
    const Graph& graph;
    const Scope* outer = nullptr;
    int depth = 0;
    std::vector<std::optional<Datum>> values;
    mutable std::unordered_map<std::string_view, ValueId> names = {};  // filled when a sub-graph first asks

    const Datum* find(std::string_view name) const {
        if (names.empty())
            for (ValueId id = 0; id < graph.value_count(); ++id) names.emplace(graph.value(id).name, id);
        const auto at = names.find(name);
        if (at != names.end() && values[static_cast<size_t>(at->second)])
            return &*values[static_cast<size_t>(at->second)];
        return outer == nullptr ? nullptr : outer->find(name);
    }
    const Datum& get(ValueId id) const {
        if (values[static_cast<size_t>(id)]) return *values[static_cast<size_t>(id)];
        const Datum* datum = outer == nullptr ? nullptr : outer->find(graph.value(id).name);
        if (datum == nullptr)
            throw UserError("value '" + escaped(graph.value(id).name) + "' is read but never produced");
        return *datum;
    }
};

std::vector<Datum> interpret_in(const Graph& graph, std::span<const Datum> inputs, const Registry<Op>& ops,
                                const Scope* outer, int depth);

bool holds_strings(const Datum* datum) { return datum != nullptr && std::holds_alternative<Strings>(*datum); }

std::vector<const Tensor*> input_tensors(std::span<const Datum* const> inputs) {
    std::vector<const Tensor*> tensors;
    for (size_t i = 0; i < inputs.size(); ++i)
        tensors.push_back(inputs[i] == nullptr ? nullptr : &tensor_of(*inputs[i], "input", i));
    return tensors;
}

int64_t handles_of(const Strings& strings) { return 1 + static_cast<int64_t>(strings.values.size()); }

// Data are handed on by copying what refers to them: of a sequence, each of its tensors. Strings are copied themselves.
int64_t handles_of(const Datum& datum) {
    if (const auto* strings = std::get_if<Strings>(&datum)) return handles_of(*strings);
    const auto* sequence = std::get_if<Sequence>(&datum);
    if (sequence == nullptr) return 1;
    if (sequence->type != ElementType::string) return static_cast<int64_t>(sequence->tensors.size());
    int64_t handles = 0;
    for (const TensorValues& each : sequence->tensors) handles += handles_of(std::get<Strings>(each));
    return handles;
}

int64_t elements_of(const Datum& datum) {
    const auto* tensor = std::get_if<Tensor>(&datum);
    return tensor == nullptr ? handles_of(datum) : tensor->elements();
}

// An operator's `interpret`, charged for what it takes, for every sub-graph that it runs and for what it gives.
std::vector<Datum> run_interpret(const Op& op, const Node& node, std::span<const Datum* const> inputs,
                                 const RunSubgraph& run) {
    for (const Datum* input : inputs)
        if (input != nullptr) charge_reference_work(handles_of(*input));
    const RunSubgraph charged = [&run](const Graph& graph, std::span<const Datum> given) {
        charge_reference_work(node_run_work);
        for (const Datum& datum : given) charge_reference_work(handles_of(datum));
        return run(graph, given);
    };
    std::vector<Datum> outputs = op.fields().interpret({node, inputs, charged});
    for (const Datum& output : outputs) charge_reference_work(elements_of(output));
    return outputs;
}

// Whether the operator's `interpret` runs the node, not its reference.
bool is_interpreted(const Op& op, const Node& node, std::span<const Datum* const> inputs) {
    if (!op.fields().interpret) return false;
    const bool has_others = std::ranges::any_of(
        inputs, [](const Datum* input) { return input != nullptr && !std::holds_alternative<Tensor>(*input); });
    if (!op.fields().reference || has_others || !node.subgraphs.empty()) return true;
    return std::ranges::any_of(infer_outputs(op, node, input_tensors(inputs)),
                               [](const auto& desc) { return desc && desc->type == ElementType::string; });
}

// A node on strings by its reference: what it moves, compares or orders is their ranks.
std::vector<Datum> run_on_ranks(const Node& node, std::span<const Datum* const> inputs, const Registry<Op>& ops) {
    const Op::Fields& op = op_of(node, ops).fields();
    // Where moves strings although its first input is a condition.
    const bool moves_others = op.data_movement && !inputs.empty() && !holds_strings(inputs[0]);
    if (!op.types.contains(ElementType::string) && !moves_others) throw Unsupported("strings are not handled");
    const StringRanks table(inputs);
    std::vector<Datum> numbers;
    for (size_t i = 0; i < inputs.size(); ++i) {
        if (holds_strings(inputs[i]))
            numbers.emplace_back(table.ranks(std::get<Strings>(*inputs[i])));
        else
            numbers.push_back(inputs[i] == nullptr ? Datum{} : *inputs[i]);
        if (inputs[i] != nullptr && !holds_strings(inputs[i]) && tensor_of(numbers[i], "input", i).type() == table.type)
            throw UserError("its inputs hold strings and " + std::string(to_string(table.type)));
    }
    std::vector<const Datum*> given;
    for (size_t i = 0; i < inputs.size(); ++i) given.push_back(inputs[i] == nullptr ? nullptr : &numbers[i]);
    std::vector<Datum> outputs;
    for (Tensor& output : run_reference(node, input_tensors(given), ops)) {
        if (output.type() == StringRanks::type)
            outputs.emplace_back(table.strings(output));
        else
            outputs.emplace_back(std::move(output));
    }
    return outputs;
}

std::vector<Datum> run_node(const Scope& scope, const Node& node, const Registry<Op>& ops) {
    std::vector<const Datum*> inputs;
    for (ValueId input : node.inputs) inputs.push_back(input == no_value ? nullptr : &scope.get(input));
    return run_on_data(node, inputs, ops, [&](const Graph& graph, std::span<const Datum> given) {
        return interpret_in(graph, given, ops, &scope, scope.depth + 1);
    });
}

// How often each value is still to be read; graph outputs count as one more reading that never happens.
std::vector<int64_t> readings(const Graph& graph) {
    std::vector<int64_t> counts(static_cast<size_t>(graph.value_count()), 0);
    for (NodeId id = 0; id < graph.node_count(); ++id) {
        if (graph.node(id).dead) continue;
        for (ValueId input : graph.node(id).inputs)
            if (input != no_value) ++counts[static_cast<size_t>(input)];
        // Captured values are not among the inputs, so nothing may be freed around a sub-graph.
        if (!graph.node(id).subgraphs.empty()) return std::vector<int64_t>(counts.size(), INT64_MAX);
    }
    for (ValueId output : graph.outputs) ++counts[static_cast<size_t>(output)];
    return counts;
}

void charge(const Node& node, std::span<const Tensor* const> inputs,
            std::span<const std::optional<TensorDesc>> outputs) {
    std::vector<const Shape*> in, out;
    for (const Tensor* input : inputs) in.push_back(input == nullptr ? nullptr : &input->shape());
    for (const auto& output : outputs) out.push_back(output ? &output->shape : nullptr);
    charge_reference_work(reference_work(node, in, out));
}

std::vector<Datum> interpret_in(const Graph& graph, std::span<const Datum> inputs, const Registry<Op>& ops,
                                const Scope* outer, int depth) {
    if (depth > max_depth) throw UserError("sub-graphs are nested deeper than " + std::to_string(max_depth));
    if (inputs.size() != graph.inputs.size())
        throw UserError("the graph has " + std::to_string(graph.inputs.size()) + " inputs but " +
                        std::to_string(inputs.size()) + " were given");
    Scope scope{graph, outer, depth, {}};
    scope.values.resize(static_cast<size_t>(graph.value_count()));
    for (ValueId id = 0; id < graph.value_count(); ++id)
        if (graph.is_constant(id)) scope.values[static_cast<size_t>(id)] = *graph.constant(id);
    for (size_t i = 0; i < inputs.size(); ++i) scope.values[static_cast<size_t>(graph.inputs[i])] = inputs[i];

    std::vector<int64_t> left = readings(graph);
    for (NodeId id : graph.topological_order()) {
        const Node& node = graph.node(id);
        std::vector<Datum> outputs = naming(node, [&] { return run_node(scope, node, ops); });
        for (size_t i = 0; i < node.outputs.size(); ++i)
            if (node.outputs[i] != no_value) scope.values[static_cast<size_t>(node.outputs[i])] = std::move(outputs[i]);
        for (ValueId input : node.inputs)
            if (input != no_value && --left[static_cast<size_t>(input)] == 0)
                scope.values[static_cast<size_t>(input)].reset();
    }
    std::vector<Datum> outputs;
    for (ValueId output : graph.outputs) outputs.push_back(scope.get(output));
    return outputs;
}

}  // namespace

const Tensor& tensor_of(const Datum& datum, const char* place, size_t index) {
    const auto* tensor = std::get_if<Tensor>(&datum);
    if (tensor == nullptr)
        throw UserError(std::string(place) + " " + std::to_string(index) + " is " + std::string(kind_of(datum)) +
                        " instead of a tensor");
    return *tensor;
}

TensorValues values_of(const Datum& datum, const char* place, size_t index) {
    if (const auto* strings = std::get_if<Strings>(&datum)) return *strings;
    return tensor_of(datum, place, index);
}

std::vector<Datum> run_on_data(const Node& node, std::span<const Datum* const> inputs, const Registry<Op>& ops,
                               const RunSubgraph& run) {
    charge_reference_work(node_run_work);
    if (node.body == nullptr) {
        const Op& op = op_of(node, ops);
        if (is_interpreted(op, node, inputs)) {
            check_counts(op, inputs.size(), node.outputs.size());
            std::vector<Datum> outputs = run_interpret(op, node, inputs, run);
            HEADWAY_CHECK(outputs.size() >= node.outputs.size());
            return outputs;
        }
        if (std::ranges::any_of(inputs, holds_strings)) return run_on_ranks(node, inputs, ops);
    }
    std::vector<Tensor> outputs = run_reference(node, input_tensors(inputs), ops);
    return {std::make_move_iterator(outputs.begin()), std::make_move_iterator(outputs.end())};
}

std::vector<Tensor> run_reference(const Node& node, std::span<const Tensor* const> inputs, const Registry<Op>& ops) {
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
    charge(node, inputs, descs);
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

std::vector<Datum> interpret_data(const Graph& graph, std::span<const Datum> inputs, const Registry<Op>& ops) {
    const CallWork call;
    return interpret_in(graph, inputs, ops, nullptr, 0);
}

std::vector<Tensor> tensors_of(std::vector<Datum> outputs) {
    std::vector<Tensor> tensors;
    for (Datum& datum : outputs) {
        if (!std::holds_alternative<Tensor>(datum))
            throw UserError("output " + std::to_string(tensors.size()) + " of the graph is " +
                            std::string(kind_of(datum)) + " instead of a tensor");
        tensors.push_back(std::get<Tensor>(std::move(datum)));
    }
    return tensors;
}

std::vector<Tensor> interpret(const Graph& graph, std::span<const Tensor> inputs, const Registry<Op>& ops) {
    return tensors_of(interpret_data(graph, std::vector<Datum>(inputs.begin(), inputs.end()), ops));
}

}  // namespace headway
