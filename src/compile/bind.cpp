#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/text.h"
#include "compile/compile.h"
#include "compile/inline_branch.h"
#include "tensor/layout.h"

namespace headway {
namespace {

// Results up to this many elements are computed while binding: shapes and conditions depend on integers, resizing on a
// few scales. Anything larger is left to the pass fold_constants, which has knobs.
constexpr int64_t most_integers = 1024, most_reals = 64;
// Nested Ifs unfold one inside the other; a file may not make this loop for ever.
constexpr int max_inlined_branches = 10000;

// Extents come from files and from the command line: a size that does not fit is refused with the input's name.
void check_size(const Value& input) {
    try {
        static_cast<void>(TensorDesc{input.type, input.shape(), Layout::plain}.bytes());
    } catch (const UserError& error) {
        throw UserError("input " + escaped(input.name) + " of shape " + input.shape().text() + ": " + error.what());
    }
}

void bind_inputs(Graph& graph, const Bindings& bindings) {
    const auto is_input = [&](const std::string& name) {
        return std::ranges::any_of(graph.inputs, [&](ValueId id) { return graph.value(id).name == name; });
    };
    for (const auto& [name, shape] : bindings.shapes)
        if (!is_input(name)) throw UserError("the model has no input named " + escaped(name));
    for (const auto& [name, tensor] : bindings.values)
        if (!is_input(name)) throw UserError("the model has no input named " + escaped(name));

    std::map<std::string, int64_t> symbols;
    for (ValueId id : graph.inputs) {
        Value& value = graph.value(id);
        const auto bound = bindings.shapes.find(value.name);
        if (bound == bindings.shapes.end()) continue;
        const Shape& shape = bound->second;
        const std::string name = escaped(value.name);
        if (value.dims && value.dims->size() != shape.rank())
            throw UserError("input " + name + " has rank " + std::to_string(value.dims->size()) + ", not " +
                            std::to_string(shape.rank()) + " as in " + shape.text());
        if (!value.dims) {
            value.set_shape(shape);
            continue;
        }
        for (size_t axis = 0; axis < shape.rank(); ++axis) {
            Dim& dim = (*value.dims)[axis];
            if (dim.known() && dim.extent != shape[axis])
                throw UserError("input " + name + " is fixed to " + std::to_string(dim.extent) + " at axis " +
                                std::to_string(axis) + ", not " + std::to_string(shape[axis]));
            if (!dim.symbol.empty() && dim.symbol != "?") {
                const auto [at, fresh] = symbols.emplace(dim.symbol, shape[axis]);
                if (!fresh && at->second != shape[axis])
                    throw UserError("symbol " + escaped(dim.symbol) + " is bound to both " +
                                    std::to_string(at->second) + " and " + std::to_string(shape[axis]));
            }
            dim = {shape[axis], ""};
        }
    }
    for (ValueId id : graph.inputs) {
        Value& value = graph.value(id);
        const std::string name = escaped(value.name);
        if (value.kind != DeclaredKind::tensor)
            throw Unsupported("input " + name + " is declared as " + std::string(to_string(value.kind)) +
                              ", which no engine holds");
        if (!value.dims) throw UserError("input " + name + " has no shape: give --shape " + name + "=...");
        for (Dim& dim : *value.dims) {
            if (dim.known()) continue;
            const auto at = symbols.find(dim.symbol);
            if (at == symbols.end())
                throw UserError("input " + name + " has the unbound dimension \"" + escaped(dim.symbol) +
                                "\": give --shape " + name + "=... or data");
            dim = {at->second, ""};
        }
        check_size(value);
    }
}

// Shapes that the file states for values inside the graph are hints that may be wrong; they are inferred anew.
void forget_inner_shapes(Graph& graph) {
    for (ValueId id = 0; id < graph.value_count(); ++id)
        if (graph.value(id).producer != no_node) graph.value(id).dims.reset();
}

// A bound input stays an input (callers still pass it) but nothing reads it any more.
void bind_values(Graph& graph, const Bindings& bindings) {
    for (size_t k = 0; k < graph.inputs.size(); ++k) {
        const ValueId input = graph.inputs[k];
        const auto bound = bindings.values.find(graph.value(input).name);
        if (bound == bindings.values.end()) continue;
        const Value& value = graph.value(input);
        if (bound->second.type() != value.type || bound->second.shape() != value.shape())
            throw UserError("the value given for input " + value.name + " is " +
                            std::string(to_string(bound->second.type())) + " " + bound->second.shape().text() +
                            ", the model wants " + std::string(to_string(value.type)) + " " + value.shape().text());
        graph.replace_uses(input, graph.add_constant(value.name, bound->second));
    }
}

// Computes a node whose inputs are all known and whose results are small.
bool fold_if_small(Graph& graph, NodeId id, const Registry<Op>& ops) {
    const Node& node = graph.node(id);
    std::vector<const Tensor*> inputs;
    const bool shape_only = node.op == "Shape" || node.op == "Size";
    Tensor placeholder;
    for (ValueId input : node.inputs) {
        const Tensor* known = input == no_value ? nullptr : graph.constant(input);
        if (input != no_value && known == nullptr) {
            if (!shape_only) return false;
            // Shape and Size read no elements, only the extents.
            const Shape shape = graph.value(input).shape();
            const int64_t bytes = shape.elements() * static_cast<int64_t>(size_of(graph.value(input).type));
            placeholder =
                Tensor(graph.value(input).type, shape,
                       std::span<const std::byte>(static_cast<const std::byte*>(nullptr), static_cast<size_t>(bytes)),
                       nullptr);
            known = &placeholder;
        }
        inputs.push_back(known);
    }
    for (ValueId output : node.outputs) {
        if (output == no_value) continue;
        const Value& value = graph.value(output);
        if (value.shape().elements() > (is_float(value.type) ? most_reals : most_integers)) return false;
    }
    if (!op_of(node, ops).fields().reference) return false;
    std::vector<Tensor> results = run_reference(graph, node, inputs, ops);
    const std::vector<ValueId> outputs = node.outputs;
    graph.erase_node(id);
    for (size_t k = 0; k < outputs.size(); ++k)
        if (outputs[k] != no_value) graph.value(outputs[k]).constant = std::move(results[k]);
    return true;
}

}  // namespace

Graph bind(const Graph& model, const Bindings& bindings, const Registry<Op>& ops) {
    Graph graph = model;
    bind_inputs(graph, bindings);
    forget_inner_shapes(graph);
    bind_values(graph, bindings);

    // Inlining adds nodes, so the order is taken anew until no If is left.
    std::vector<bool> done;
    for (int inlined = 0;;) {
        NodeId branch = no_node;
        for (NodeId id : graph.topological_order()) {
            done.resize(static_cast<size_t>(graph.node_count()), false);
            if (done[static_cast<size_t>(id)]) continue;
            if (graph.node(id).op == "If" && graph.node(id).domain.empty()) {
                branch = id;
                break;
            }
            done[static_cast<size_t>(id)] = true;
            infer_node(graph, id, ops);
            fold_if_small(graph, id, ops);
        }
        if (branch == no_node) break;
        if (++inlined > max_inlined_branches) throw UserError("the model unfolds into too many If branches");
        inline_taken_branch(graph, branch);
    }
    graph.compact();
    return graph;
}

}  // namespace headway
