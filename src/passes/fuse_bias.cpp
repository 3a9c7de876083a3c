// An addition of one number per channel after a convolution or Gemm becomes its bias.
#include <algorithm>

#include "passes/linear.h"
#include "passes/match.h"
#include "passes/rewrite.h"

namespace headway {
namespace {

const Knob<std::string_view> enabled{{
    .name = "fuse_bias",
    .help = "Turns an addition of one constant per channel into the bias of the convolution or Gemm before it.",
    .family = "fusion",
    .values = {"on", "off"},
    .numerics = Numerics::reorders,
    .scope = Scope::site,
    .witness = "conv_bias",
    .witness_route = "fold_affine=off",
}};

Verdict fuse(PassContext& context, const Uses& uses, NodeId producer, NodeId add, const ConstantOperand& operand) {
    Graph& graph = context.graph;
    Verdict why;
    const std::optional<Linear> linear = linear_at(graph, producer, why);
    if (!linear) return why;
    if (!linear->has_bias_input) return Verdict::no(Reason::pattern, "MatMul has no bias");
    if (context.route.get(enabled, graph.node(producer).origins) == "off")
        return Verdict::no(Reason::knob, "fuse_bias=off");
    if (!uses.is_sole(operand.variable)) return Verdict::no(Reason::consumers, "read elsewhere");
    auto shift = along_axis(*known(graph, operand.constant), graph.value(operand.variable).shape(), linear->out_axis);
    if (!shift) return Verdict::no(Reason::shape, "the constant is not per channel");
    if (is_op(graph.node(add), "Sub"))
        for (double& value : *shift) value = -value;
    return scale_result(context, *linear, {}, *shift, graph.node(add).outputs[0],
                        merged_origins(graph, {producer, add}));
}

bool run(PassContext& context) {
    Graph& graph = context.graph;
    Uses uses(graph);
    return rewrite_each(graph, [&](NodeId id) {
        const Node& node = graph.node(id);
        if (!is_op(node, "Add") && !is_op(node, "Sub")) return false;
        const std::optional<ConstantOperand> operand = constant_operand(graph, node);
        if (!operand || graph.value(operand->variable).type != ElementType::f32) return false;
        if (is_op(node, "Sub") && operand->constant_first) return false;
        const NodeId producer = graph.value(operand->variable).producer;
        if (producer == no_node) return false;
        const std::string site = site_of(graph, producer);
        const Verdict verdict = fuse(context, uses, producer, id, *operand);
        if (verdict.reason == Reason::pattern) return false;
        if (verdict) {
            // The producer must not count as a reader of its input any more.
            graph.erase_node(producer);
            uses = Uses(graph);
        }
        return context.decided(site, "bias", verdict);
    });
}

const Pass fuse_bias{{
    .name = "fuse_bias",
    .help = "Turns additions of per-channel constants into biases.",
    .phase = Phase::group,
    .enabled = &enabled,
    .run = run,
}};

}  // namespace
}  // namespace headway
