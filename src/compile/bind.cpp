#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/text.h"
#include "compile/compile.h"
#include "compile/resolve.h"
#include "tensor/layout.h"

namespace headway {
namespace {

// Extents come from files and from the command line: a size that does not fit is refused with the input's name.
void check_size(const Value& input) {
    try {
        static_cast<void>(TensorDesc{input.type, input.shape(), Layout::plain}.bytes());
    } catch (const UserError& error) {
        throw UserError("input " + escaped(input.name) + " of shape " + input.shape().text() + ": " + error.what());
    }
}

void bind_shapes(Graph& graph, const Bindings& bindings) {
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
        if (!value.dims) continue;
        for (Dim& dim : *value.dims)
            if (const auto at = symbols.find(dim.symbol); !dim.known() && at != symbols.end()) dim = {at->second, ""};
        if (value.kind == DeclaredKind::tensor && value.has_static_shape()) check_size(value);
    }
}

void check_ranges(const Graph& graph, const Bindings& bindings) {
    for (const auto& [name, ranges] : bindings.ranges) {
        const auto input = std::ranges::find(graph.inputs, name, [&](ValueId id) { return graph.value(id).name; });
        if (input == graph.inputs.end()) throw UserError("the model has no input named " + escaped(name));
        const std::optional<std::vector<Dim>>& dims = graph.value(*input).dims;
        if (dims && dims->size() != ranges.size())
            throw UserError("input " + escaped(name) + " has rank " + std::to_string(dims->size()) + ", not " +
                            std::to_string(ranges.size()));
        for (size_t axis = 0; axis < ranges.size(); ++axis) {
            if (ranges[axis].low < 0 || ranges[axis].high < ranges[axis].low)
                throw UserError("input " + escaped(name) + ": the range of axis " + std::to_string(axis) +
                                " is empty or negative");
            if (dims && (*dims)[axis].known() &&
                ((*dims)[axis].extent < ranges[axis].low || (*dims)[axis].extent > ranges[axis].high))
                throw UserError("input " + escaped(name) + " is fixed to " + std::to_string((*dims)[axis].extent) +
                                " at axis " + std::to_string(axis) + ", which its range leaves out");
        }
    }
}

// Extents with a range of one number are bound; an input of unknown rank gets the rank of its ranges.
void bind_ranges(Graph& graph, const Bindings& bindings) {
    for (ValueId id : graph.inputs) {
        Value& value = graph.value(id);
        const auto ranges = bindings.ranges.find(value.name);
        if (ranges == bindings.ranges.end()) continue;
        if (!value.dims) value.dims.emplace(ranges->second.size(), Dim{-1, "?"});
        for (size_t axis = 0; axis < ranges->second.size(); ++axis)
            if (ranges->second[axis].low == ranges->second[axis].high)
                (*value.dims)[axis] = {ranges->second[axis].low, ""};
    }
}

void require_shapes(const Graph& graph) {
    for (ValueId id : graph.inputs) {
        const Value& value = graph.value(id);
        const std::string name = escaped(value.name);
        if (value.kind != DeclaredKind::tensor)
            throw Unsupported("input " + name + " is declared as " + std::string(to_string(value.kind)) +
                              ", which only an engine of open shapes takes");
        if (value.type == ElementType::string)
            throw Unsupported("input " + name + " holds strings, which no engine does");
        if (!value.dims) throw UserError("input " + name + " has no shape: give --shape " + name + "=...");
        for (const Dim& dim : *value.dims)
            if (!dim.known())
                throw UserError("input " + name + " has the unbound dimension \"" + escaped(dim.symbol) +
                                "\": give --shape " + name + "=... or data");
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

}  // namespace

Graph bind_inputs(const Graph& model, const Bindings& bindings) {
    check_ranges(model, bindings);
    Graph graph = model;
    bind_ranges(graph, bindings);
    bind_shapes(graph, bindings);
    forget_inner_shapes(graph);
    bind_values(graph, bindings);
    return graph;
}

Graph bind(const Graph& model, const Bindings& bindings, const Registry<Op>& ops) {
    Graph graph = bind_inputs(model, bindings);
    require_shapes(graph);
    const std::vector<Unresolved> unresolved = resolve(graph, ops);
    if (!unresolved.empty()) throw Unsupported(unresolved.front().why);
    graph.compact();
    return graph;
}

}  // namespace headway
