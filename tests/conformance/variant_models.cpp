#include <algorithm>

#include "base/error.h"
#include "closeness.h"
#include "onnx/import.h"
#include "variant.h"

namespace headway::conformance {
namespace {

Finding interpreter_differs(const VariantInput& input) {
    const std::vector<Datum> want =
        interpret_data(input.native.model(), as_data(input.native.inputs()), input.catalogue.ops);
    return found_as(reordered_difference(as_data(input.outputs), want, input.tolerance, Numerics::reorders));
}

// Every known extent of an input becomes a symbol, equal extents the same one.
Graph with_symbols(Graph graph) {
    for (ValueId input : graph.inputs) {
        Value& value = graph.value(input);
        if (!value.dims) continue;
        for (Dim& dim : *value.dims)
            if (dim.known()) dim = {-1, "n" + std::to_string(dim.extent)};
    }
    return graph;
}

Finding symbols_differ(const VariantInput& input) {
    const Graph open = with_symbols(input.native.model());
    const Build built = build(open, input.native.bindings(), Route(), input.native.target(), input.catalogue);
    if (built.plan.fingerprint() != input.native.default_build().plan.fingerprint())
        return {Relation::differs, "bound by the data it is another engine"};
    return {};
}

Finding staged_differs(const VariantInput& input) {
    const Graph open = with_symbols(input.native.model());
    const std::vector<Datum> got = run_staged(open, as_data(input.native.inputs()), input.catalogue);
    return found_as(reordered_difference(got, as_data(input.outputs), input.tolerance, Numerics::reorders));
}

// The constants of the graph as inputs behind the others; their values are added to `inputs`.
Graph with_constants_fed(Graph graph, std::vector<Datum>& inputs) {
    for (ValueId id = 0; id < graph.value_count(); ++id) {
        Value& value = graph.value(id);
        if (!value.constant) continue;
        inputs.emplace_back(*value.constant);
        value.set_shape(value.constant->shape());
        value.constant.reset();
        graph.inputs.push_back(id);
    }
    return graph;
}

bool has_constants(const Graph& graph) {
    for (ValueId id = 0; id < graph.value_count(); ++id)
        if (graph.is_constant(id)) return true;
    return false;
}

Finding fed_differs(const VariantInput& input) {
    std::vector<Datum> inputs = as_data(input.native.inputs());
    const Graph graph = with_constants_fed(input.native.model(), inputs);
    const NativeCase fed(graph, inputs, input.catalogue);
    return found_as(reordered_difference(as_data(fed.run(fed.default_build().plan)), as_data(input.outputs),
                                         input.tolerance, Numerics::reorders));
}

// Inner values as further outputs.
Graph with_taps(Graph graph) {
    for (NodeId id = 0; id < graph.node_count(); ++id)
        for (ValueId output : graph.node(id).outputs)
            if (output != no_value && !graph.is_output(output)) graph.outputs.push_back(output);
    return graph;
}

Finding taps_differ(const VariantInput& input) {
    const Graph tapped = with_taps(input.native.model());
    const std::vector<Datum> inputs = as_data(input.native.inputs());
    const Build built = build(tapped, input.native.bindings(), Route(), input.native.target(), input.catalogue);
    const std::vector<Datum> got = as_data(input.native.run(built.plan));
    const std::vector<Datum> want = interpret_data(tapped, inputs, input.catalogue.ops);
    if (const auto found = reordered_difference(got, want, input.tolerance, Numerics::reorders)) return found_as(found);
    const std::vector<Datum> outputs = as_data(input.outputs);
    return found_as(
        reordered_difference(std::span(got).first(outputs.size()), outputs, input.tolerance, Numerics::reorders));
}

Finding twin_differs(const VariantInput& input) {
    const std::vector<std::string> operators = operators_of(*input.twin);
    if (std::ranges::find(operators, "Bernoulli") != operators.end())
        throw Unsupported("the operator and its expansion draw random numbers each in its way");
    const OnnxModel model = import_onnx(model_file(*input.twin), input.catalogue.ops);
    const std::vector<DataSet> sets = read_data_sets(*input.twin, model.graph);
    if (sets.empty()) throw Unsupported("the operator's case has no data");
    if (bit_difference(sets[0].inputs, as_data(input.native.inputs())))
        throw Unsupported("the operator's case has other inputs");
    const NativeCase twin(model.graph, sets[0].inputs, input.catalogue);
    return found_as(reordered_difference(as_data(twin.run(twin.default_build().plan)), as_data(input.outputs),
                                         input.tolerance, Numerics::reorders));
}

}  // namespace

std::vector<Variant> model_variants(const VariantInput& input) {
    const Graph& model = input.native.model();
    std::vector<Variant> variants{{"interpreter", [&input] { return interpreter_differs(input); }},
                                  {"symbols", [&input] { return symbols_differ(input); }},
                                  {"staged", [&input] { return staged_differs(input); }}};
    if (has_constants(model)) variants.push_back({"fed", [&input] { return fed_differs(input); }});
    if (with_taps(model).outputs.size() > model.outputs.size())
        variants.push_back({"taps", [&input] { return taps_differ(input); }});
    if (input.twin) variants.push_back({"twin", [&input] { return twin_differs(input); }});
    return variants;
}

}  // namespace headway::conformance
