#include "base/text.h"
#include "ops/execute.h"

namespace headway {
namespace {

void check_count(const Count& count, size_t actual, const char* what) {
    if (actual < count.least || actual > count.most)
        throw UserError("has " + std::to_string(actual) + " " + what + ", which its definition does not allow");
}

// The inferred shape against what the graph says already; unknown extents there are filled in.
void merge(Value& value, const TensorDesc& inferred) {
    if (value.type != ElementType::undefined && value.type != inferred.type)
        throw UserError("output '" + escaped(value.name) + "' is declared as " + std::string(to_string(value.type)) +
                        " but computed as " + std::string(to_string(inferred.type)));
    bool fits = !value.dims || value.dims->size() == inferred.shape.rank();
    for (size_t axis = 0; fits && value.dims && axis < inferred.shape.rank(); ++axis) {
        const Dim& dim = (*value.dims)[axis];
        fits = !dim.known() || dim.extent == inferred.shape[axis];
    }
    if (!fits)
        throw UserError("output '" + escaped(value.name) + "' has shape " + inferred.shape.text() +
                        ", which differs from the shape that the model declares for it");
    value.type = inferred.type;
    value.set_shape(inferred.shape);
}

InferContext::Input known_input(const Graph& graph, ValueId id) {
    if (id == no_value) return {};
    const Value& value = graph.value(id);
    if (value.kind != DeclaredKind::tensor)
        throw Unsupported("input '" + escaped(value.name) + "' is declared as " + std::string(to_string(value.kind)) +
                          ", which no engine holds");
    if (value.type == ElementType::string)
        throw Unsupported("input '" + escaped(value.name) + "' holds strings, which no engine does");
    if (value.type == ElementType::undefined || !value.has_static_shape())
        throw Unsupported("the type or shape of input '" + escaped(value.name) +
                          "' is not known when the model is built");
    return {true, value.type, value.shape(), graph.constant(id)};
}

void infer_group(Graph& graph, const Node& node) {
    HEADWAY_CHECK(node.body->outputs.size() == node.outputs.size());
    for (size_t i = 0; i < node.outputs.size(); ++i) {
        const Value& result = node.body->value(node.body->outputs[i]);
        if (node.outputs[i] != no_value)
            merge(graph.value(node.outputs[i]), {result.type, result.shape(), Layout::plain});
    }
}

}  // namespace

std::string describe(const Node& node) {
    const std::string site = node.origins.empty() ? std::string("?") : escaped(node.origins.front());
    return "node '" + site + "' (" + escaped(qualified_name(node.op, node.domain)) + ")";
}

void check_counts(const Op& op, size_t inputs, size_t outputs) {
    check_count(op.fields().inputs, inputs, "inputs");
    check_count(op.fields().outputs, outputs, "outputs");
}

void run_infer(const Op& op, InferContext& context) {
    const Op::Fields& fields = op.fields();
    check_counts(op, context.input_count(), context.output_count());
    const size_t needed = fields.inputs.most == any_number ? context.input_count() : fields.inputs.least;
    for (size_t i = 0; i < needed; ++i)
        if (!context.has(i)) throw UserError("input " + std::to_string(i) + " is missing");
    if (context.has(0) && !fields.types.empty() && !fields.types.contains(context.type(0)))
        throw Unsupported("element type " + std::string(to_string(context.type(0))) + " is not handled (" +
                          fields.types.text() + " are)");
    fields.infer(context);
}

std::vector<std::optional<TensorDesc>> infer_outputs(const Op& op, const Node& node,
                                                     std::span<const Tensor* const> inputs) {
    std::vector<InferContext::Input> known;
    for (const Tensor* tensor : inputs)
        known.push_back(tensor == nullptr ? InferContext::Input{}
                                          : InferContext::Input{true, tensor->type(), tensor->shape(), tensor});
    InferContext context(node, std::move(known));
    run_infer(op, context);
    std::vector<std::optional<TensorDesc>> outputs;
    for (size_t i = 0; i < node.outputs.size(); ++i) {
        outputs.push_back(node.outputs[i] == no_value ? std::nullopt : context.output(i));
        if (node.outputs[i] != no_value && !outputs.back())
            throw Unsupported("output " + std::to_string(i) + " is not computed");
    }
    return outputs;
}

void infer_node(Graph& graph, NodeId id, const Registry<Op>& ops) {
    const Node& node = graph.node(id);
    naming(node, [&] {
        if (node.body != nullptr) return infer_group(graph, node);
        const Op& op = op_of(node, ops);
        if (!op.fields().infer || !node.subgraphs.empty())
            throw Unsupported("no engine is built with it: it works on sub-graphs, sequences, optionals or strings");
        std::vector<InferContext::Input> inputs;
        for (ValueId input : node.inputs) inputs.push_back(known_input(graph, input));
        InferContext context(node, std::move(inputs));
        run_infer(op, context);
        for (size_t i = 0; i < node.outputs.size(); ++i) {
            if (node.outputs[i] == no_value || !context.output(i)) continue;
            if (context.output(i)->type == ElementType::string)
                throw Unsupported("output " + std::to_string(i) + " holds strings, which no engine does");
            merge(graph.value(node.outputs[i]), *context.output(i));
        }
    });
}

}  // namespace headway
