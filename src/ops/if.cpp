#include "ops/arguments.h"

namespace headway {
namespace {

// The results of the branch that a known condition takes, where its graph says them; nothing otherwise.
void infer_if(InferContext& context) {
    const Tensor* condition = context.constant(0);
    if (condition == nullptr) return;
    const std::string_view wanted = scalar_of(*condition, "its condition") != 0 ? "then_branch" : "else_branch";
    for (const Subgraph& subgraph : context.node().subgraphs) {
        if (subgraph.attribute != wanted) continue;
        const Graph& branch = *subgraph.graph;
        if (branch.outputs.size() != context.output_count())
            throw UserError("its branch has another number of outputs");
        for (size_t i = 0; i < branch.outputs.size(); ++i) {
            const Value& value = branch.value(branch.outputs[i]);
            if (value.type != ElementType::undefined && value.has_static_shape())
                context.set_output(i, value.type, value.shape());
        }
    }
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
    .help = "Runs one of two sub-graphs. The condition must be known when the model is built.",
}};

}  // namespace headway
