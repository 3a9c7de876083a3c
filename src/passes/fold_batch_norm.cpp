// An inference BatchNormalization is y = x * a + b per channel: it goes into the weights of the linear operator before
// it, or becomes Mul and Add for other passes to fold or fuse.
#include <cmath>

#include "passes/linear.h"
#include "passes/match.h"
#include "passes/rewrite.h"

namespace headway {
namespace {

const Knob<std::string_view> enabled{{
    .name = "fold_batch_norm",
    .help = "Folds BatchNormalization into the weights before it, else into a multiplication and an addition.",
    .family = "rewrite",
    .values = {"on", "off"},
    .numerics = Numerics::reorders,
    .witness = "conv_batch_norm",
}};

struct Affine {
    std::vector<double> scale, shift;
};

// Nothing, with the reason, when it normalises by the batch's own statistics or by ones computed at run time.
std::optional<Affine> affine_of(const Graph& graph, const Node& node, Verdict& why) {
    // Before opset 7, is_test said whether the node is in inference form; spatial=0 normalised per element.
    const bool trains = node.attributes.integer("training_mode", 0) != 0 ||
                        (node.version < 7 && node.attributes.integer("is_test", 0) == 0);
    if (trains || node.attributes.integer("spatial", 1) == 0) {
        why = Verdict::no(Reason::attribute, "batch statistics");
        return std::nullopt;
    }
    for (size_t i = 1; i < node.outputs.size(); ++i)
        if (node.outputs[i] != no_value) {
            why = Verdict::no(Reason::consumers, "statistics are read");
            return std::nullopt;
        }
    const Shape shape = graph.value(node.inputs[0]).shape();
    std::vector<double> parts[4];
    for (size_t i = 0; i < 4; ++i) {
        const Tensor* tensor = known(graph, input_of(node, i + 1));
        if (!tensor || shape.rank() < 2 || tensor->shape() != Shape{shape[1]}) {
            why = Verdict::no(Reason::needs_constant, "statistics");
            return std::nullopt;
        }
        for (int64_t c = 0; c < shape[1]; ++c) parts[i].push_back(tensor->at(c));
    }
    const double epsilon = node.attributes.real("epsilon", 1e-5F);
    Affine affine;
    for (size_t c = 0; c < parts[0].size(); ++c) {
        const double scale = parts[0][c] / std::sqrt(parts[3][c] + epsilon);
        affine.scale.push_back(scale);
        affine.shift.push_back(parts[1][c] - parts[2][c] * scale);
    }
    return affine;
}

void rewrite_as_mul_add(PassContext& context, NodeId id, const Affine& affine) {
    Graph& graph = context.graph;
    const Node node = graph.node(id);
    Shape channels(std::vector<int64_t>(graph.value(node.inputs[0]).shape().rank(), 1));
    channels[1] = static_cast<int64_t>(affine.scale.size());
    const std::string& site = node.origins.front();
    const ValueId scale = add_floats(graph, site + ".scale", channels, affine.scale);
    const ValueId shift = add_floats(graph, site + ".shift", channels, affine.shift);
    const ValueId scaled = append(context, "Mul", {node.inputs[0], scale}, {}, node.origins);
    append_as(context, node.outputs[0], "Add", {scaled, shift}, {}, node.origins);
}

bool run(PassContext& context) {
    Graph& graph = context.graph;
    Uses uses(graph);
    return rewrite_each(graph, [&](NodeId id) {
        if (!is_op(graph.node(id), "BatchNormalization")) return false;
        const Node node = graph.node(id);
        const std::string site = site_of(graph, id);
        Verdict why;
        const std::optional<Affine> affine =
            graph.value(node.inputs[0]).type == ElementType::f32 ? affine_of(graph, node, why) : std::nullopt;
        if (!affine) {
            context.refused(site, "fold", why ? Verdict::no(Reason::element_type, "not f32") : why);
            return false;
        }
        const NodeId producer = graph.value(node.inputs[0]).producer;
        const std::optional<Linear> linear = linear_at(graph, producer, why);
        if (linear && !uses.is_sole(node.inputs[0]))
            why = Verdict::no(Reason::consumers, "the producer's result is read elsewhere");
        else if (linear && linear->out_axis != 1)
            why = Verdict::no(Reason::shape, "axis 1 is not the producer's channel axis");
        else if (linear)
            why = scale_result(context, *linear, affine->scale, affine->shift, node.outputs[0],
                               merged_origins(graph, {producer, id}));
        if (why) {
            context.taken(site, "fold");
        } else {
            context.refused(site, "fold", why);
            rewrite_as_mul_add(context, id, *affine);
            context.taken(site, "mul_add");
        }
        uses = Uses(graph);
        return true;
    });
}

const Pass fold_batch_norm{{
    .name = "fold_batch_norm",
    .help = "Folds inference BatchNormalization into weights, or into a multiplication and an addition.",
    .enabled = &enabled,
    .run = run,
}};

}  // namespace
}  // namespace headway
