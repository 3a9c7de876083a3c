// What is computed from each looked-up row alone can be computed on the table once, at build time: pointwise operators
// with constants that are the same for every row move from behind a Gather into its table.
#include "passes/match.h"
#include "passes/pass.h"
#include "passes/pointwise_body.h"
#include "passes/rewrite.h"

namespace headway {
namespace {

const Knob<std::string_view> enabled{{
    .name = "fold_gather_table",
    .help = "Applies pointwise operators to the constant table of a look-up instead of to its result.",
    .family = "rewrite",
    .values = {"on", "off"},
    .numerics = Numerics::reorders,
    .witness = "embedding",
}};

// Whether a constant of this shape means the same for every row of the table: it varies at most along the axes of a
// row.
bool is_same_for_rows(const Shape& constant, size_t row_rank) {
    for (size_t i = 0; i + row_rank < constant.rank(); ++i)
        if (constant[i] != 1) return false;
    return true;
}

Verdict may_fold(const PassContext& context, const Uses& uses, NodeId id, NodeId gather) {
    const Graph& graph = context.graph;
    const Node& node = graph.node(id);
    const Node& look_up = graph.node(gather);
    const Tensor* table = known(graph, look_up.inputs[0]);
    if (!table || look_up.attributes.integer("axis", 0) != 0) return Verdict::no(Reason::needs_constant, "table");
    if (!uses.is_sole(look_up.outputs[0])) return Verdict::no(Reason::consumers, "read elsewhere");
    if (graph.value(node.outputs[0]).shape() != graph.value(look_up.outputs[0]).shape())
        return Verdict::no(Reason::shape, "the result has another shape");
    for (ValueId input : node.inputs) {
        if (input == no_value || input == look_up.outputs[0]) continue;
        if (!known(graph, input)) return Verdict::no(Reason::needs_constant, "operand");
        if (!is_same_for_rows(graph.value(input).shape(), table->shape().rank() - 1))
            return Verdict::no(Reason::shape, "the operand differs between rows");
    }
    return Verdict::yes();
}

// The constant without the leading ones that stood for the axes of the indices.
ValueId for_rows(Graph& graph, ValueId constant, size_t row_rank) {
    const Tensor& tensor = *known(graph, constant);
    if (tensor.shape().rank() <= row_rank) return constant;
    const auto& dims = tensor.shape().dims();
    const auto excess = static_cast<int64_t>(dims.size() - row_rank);
    return graph.add_constant(graph.value(constant).name,
                              tensor.reshaped(Shape(std::vector<int64_t>(dims.begin() + excess, dims.end()))));
}

void fold(PassContext& context, NodeId id, NodeId gather) {
    Graph& graph = context.graph;
    const Node look_up = graph.node(gather);
    Node on_table = graph.node(id);
    const size_t row_rank = graph.value(look_up.inputs[0]).shape().rank() - 1;
    const ValueId result = on_table.outputs[0];
    std::vector<const Tensor*> inputs;
    for (ValueId& input : on_table.inputs) {
        if (input == look_up.outputs[0])
            input = look_up.inputs[0];
        else if (input != no_value)
            input = for_rows(graph, input, row_rank);
    }
    for (ValueId input : on_table.inputs) inputs.push_back(input == no_value ? nullptr : known(graph, input));
    std::vector<Tensor> table = run_reference(on_table, inputs, context.ops);
    const ValueId folded = graph.add_constant(graph.value(look_up.inputs[0]).name, std::move(table[0]));
    append_as(context, result, "Gather", {folded, look_up.inputs[1]}, look_up.attributes,
              merged_origins(graph, {gather, id}));
}

bool run(PassContext& context) {
    Graph& graph = context.graph;
    Uses uses(graph);
    return rewrite_each(graph, [&](NodeId id) {
        if (!is_pointwise(graph, graph.node(id))) return false;
        NodeId gather = no_node;
        for (ValueId input : graph.node(id).inputs)
            if (gather == no_node) gather = made_by(graph, input, "Gather");
        if (gather == no_node) return false;
        const std::string site = site_of(graph, id);
        const Verdict verdict = may_fold(context, uses, id, gather);
        if (verdict) {
            fold(context, id, gather);
            uses = Uses(graph);
        }
        return context.decided(site, "fold", verdict);
    });
}

const Pass fold_gather_table{{
    .name = "fold_gather_table",
    .help = "Moves pointwise operators into the tables of look-ups.",
    .enabled = &enabled,
    .run = run,
}};

}  // namespace
}  // namespace headway
