// Multiplications and additions by per-channel constants go into the weights of the linear operator before or after
// them: learnable scalar affines, normalisations that became Mul and Add, biases.
#include <algorithm>
#include <cmath>

#include "passes/linear.h"
#include "passes/match.h"
#include "passes/rewrite.h"

namespace headway {
namespace {

const Knob<std::string_view> enabled{{
    .name = "fold_affine",
    .help = "Folds multiplications and additions by per-channel constants into neighbouring weights.",
    .family = "rewrite",
    .values = {"on", "off"},
    .numerics = Numerics::reorders,
    .witness = "conv_affine_conv",
}};

const Knob<std::string_view> direction{{
    .name = "fold_affine.direction",
    .help = "Into the weights of the operator before, of the one after, or of both kinds (the one before first).",
    .family = "rewrite",
    .values = {"both", "producer", "consumer"},
    .numerics = Numerics::reorders,
    .witness = "conv_affine_conv",
}};

struct Affine {
    std::vector<double> scale, shift;  // empty = none
};

// The node as x * scale + shift along an axis of its result. Nothing, with the reason, for anything else.
std::optional<Affine> affine_of(const Graph& graph, const Node& node, const ConstantOperand& operand, size_t axis,
                                Verdict& why) {
    const auto values = along_axis(*known(graph, operand.constant), graph.value(node.outputs[0]).shape(), axis);
    if (!values) {
        why = Verdict::no(Reason::shape, "the constant is not per channel");
        return std::nullopt;
    }
    const auto mapped = [&](auto function) {
        std::vector<double> result;
        for (double value : *values) result.push_back(function(value));
        return result;
    };
    if (node.op == "Mul") return Affine{*values, {}};
    if (node.op == "Add") return Affine{{}, *values};
    if (node.op == "Sub" && !operand.constant_first) return Affine{{}, mapped([](double x) { return -x; })};
    if (node.op == "Sub") return Affine{mapped([](double) { return -1.0; }), *values};
    if (node.op == "Div" && !operand.constant_first) return Affine{mapped([](double x) { return 1 / x; }), {}};
    why = Verdict::no(Reason::operator_not_handled, node.op);
    return std::nullopt;
}

bool is_affine_op(const Node& node) {
    return is_op(node, "Mul") || is_op(node, "Add") || is_op(node, "Sub") || is_op(node, "Div");
}

Verdict fold_into_producer(PassContext& context, const Uses& uses, NodeId id, const ConstantOperand& operand) {
    Graph& graph = context.graph;
    const NodeId producer = graph.value(operand.variable).producer;
    Verdict why;
    const std::optional<Linear> linear = linear_at(graph, producer, why);
    if (!linear) return why;
    if (!uses.is_sole(operand.variable)) return Verdict::no(Reason::consumers, "read elsewhere");
    const std::optional<Affine> affine = affine_of(graph, graph.node(id), operand, linear->out_axis, why);
    if (!affine) return why;
    return scale_result(context, *linear, affine->scale, affine->shift, graph.node(id).outputs[0],
                        merged_origins(graph, {producer, id}));
}

Verdict fold_into_consumer(PassContext& context, const Uses& uses, NodeId id, const ConstantOperand& operand) {
    Graph& graph = context.graph;
    const NodeId consumer = uses.sole_reader(graph.node(id).outputs[0]);
    if (consumer == no_node) return Verdict::no(Reason::consumers, "read elsewhere");
    if (graph.node(consumer).inputs[0] != graph.node(id).outputs[0])
        return Verdict::no(Reason::pattern, "not the data of a linear operator");
    Verdict why;
    const std::optional<Linear> linear = linear_at(graph, consumer, why);
    if (!linear) return why;
    const std::optional<Affine> affine = affine_of(graph, graph.node(id), operand, linear->in_axis, why);
    if (!affine) return why;
    return scale_input(context, *linear, affine->scale, affine->shift, operand.variable,
                       merged_origins(graph, {consumer, id}));
}

bool run(PassContext& context) {
    Graph& graph = context.graph;
    const std::string_view wanted = context.route.get(direction);
    Uses uses(graph);
    return rewrite_each(graph, [&](NodeId id) {
        if (!is_affine_op(graph.node(id))) return false;
        const std::optional<ConstantOperand> operand = constant_operand(graph, graph.node(id));
        if (!operand || graph.value(operand->variable).type != ElementType::f32) return false;
        const std::string site = site_of(graph, id);
        Verdict verdict = Verdict::no(Reason::knob, "fold_affine.direction=" + std::string(wanted));
        if (wanted != "consumer") verdict = fold_into_producer(context, uses, id, *operand);
        if (!verdict && wanted != "producer") {
            context.refused(site, "producer", verdict);
            verdict = fold_into_consumer(context, uses, id, *operand);
        }
        if (verdict) uses = Uses(graph);
        return context.decided(site, "fold", verdict);
    });
}

const Pass fold_affine{{
    .name = "fold_affine",
    .help = "Folds per-channel multiplications and additions into neighbouring weights.",
    .enabled = &enabled,
    .run = run,
}};

}  // namespace
}  // namespace headway
