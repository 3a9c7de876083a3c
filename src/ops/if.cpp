#include "ops/arguments.h"

namespace headway {
namespace {

const Graph& taken_branch(std::span<const Subgraph> branches, const Tensor& condition) {
    const std::string_view wanted = scalar_of(condition, "its condition") != 0 ? "then_branch" : "else_branch";
    for (const Subgraph& subgraph : branches)
        if (subgraph.attribute == wanted) return *subgraph.graph;
    throw UserError("has no " + std::string(wanted));
}

// The results of the branch that a known condition takes, where its graph says them; nothing otherwise.
void infer_if(InferContext& context) {
    const Tensor* condition = context.constant(0);
    if (condition == nullptr) return;
    const Graph& branch = taken_branch(context.node().subgraphs, *condition);
    if (branch.outputs.size() != context.output_count()) throw UserError("its branch has another number of outputs");
    for (size_t i = 0; i < branch.outputs.size(); ++i) {
        const Value& value = branch.value(branch.outputs[i]);
        if (value.type != ElementType::undefined && value.has_static_shape())
            context.set_output(i, value.type, value.shape());
    }
}

std::vector<Datum> interpret_if(const InterpretContext& context) {
    const Graph& branch = taken_branch(context.node.subgraphs, context.tensor(0));
    std::vector<Datum> outputs = context.run(branch, {});
    if (outputs.size() != context.node.outputs.size()) throw UserError("its branch has another number of outputs");
    return outputs;
}

}  // namespace

const Op if_op{{
    .name = "If",
    .since = {1, 11, 13, 16},
    .outputs = {1, any_number},
    .types = boolean_type,
    .attributes = {{"then_branch", "graph", "", "run when the condition is true"},
                   {"else_branch", "graph", "", "run when it is false"}},
    .infer = infer_if,
    .interpret = interpret_if,
    .help = "Runs one of two sub-graphs. The condition must be known when an engine is built.",
}};

}  // namespace headway
