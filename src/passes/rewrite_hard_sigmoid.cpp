// clip(x * a + b, 0, h) / h becomes HardSigmoid with alpha a/h and beta b/h.
#include <cmath>

#include "passes/match.h"
#include "passes/pass.h"
#include "passes/product.h"
#include "passes/rewrite.h"

namespace headway {
namespace {

const Knob<std::string_view> enabled{{
    .name = "rewrite_hard_sigmoid",
    .help = "Turns the spelled-out forms of HardSigmoid into the operator.",
    .family = "rewrite",
    .values = {"on", "off"},
    .numerics = Numerics::reorders,
    .witness = "hard_sigmoid",
}};

struct Gate {
    ValueId x = no_value;
    double alpha = 1, beta = 0;
    std::vector<NodeId> nodes;
};

// The node as (x * alpha + beta) limited to 0..1.
std::optional<Gate> gate_at(const Graph& graph, const Uses& uses, NodeId root) {
    ValueId limited_value = graph.node(root).outputs[0];
    Gate gate;
    double divisor = 1;
    if (const std::optional<Product> product = product_of(graph, uses, root)) {
        if (product->factors.size() != 1 || product->constant <= 0 || !uses.is_sole(product->factors[0]))
            return std::nullopt;
        divisor = 1 / product->constant;
        limited_value = product->factors[0];
        gate.nodes = product->nodes;
    }
    const std::optional<Limited> clip = limited(graph, uses, limited_value);
    if (!clip || clip->low != 0 || !std::isfinite(clip->high) || !is_near(clip->high, divisor)) return std::nullopt;
    gate.nodes.insert(gate.nodes.end(), clip->nodes.begin(), clip->nodes.end());
    const std::optional<Shifted> sum = shifted(graph, clip->inner);
    if (!sum || !uses.is_sole(clip->inner)) return std::nullopt;
    gate.nodes.push_back(sum->node);
    gate.x = sum->inner;
    gate.beta = sum->shift / divisor;
    gate.alpha = 1 / divisor;
    const NodeId producer = graph.value(gate.x).producer;
    const auto scaled = producer == no_node ? std::nullopt : product_of(graph, uses, producer);
    if (scaled && scaled->factors.size() == 1 && uses.is_sole(gate.x)) {
        gate.x = scaled->factors[0];
        gate.alpha *= scaled->constant;
        gate.nodes.insert(gate.nodes.end(), scaled->nodes.begin(), scaled->nodes.end());
    }
    return gate;
}

bool run(PassContext& context) {
    Graph& graph = context.graph;
    Uses uses(graph);
    return rewrite_each(graph, [&](NodeId id) {
        const Node& node = graph.node(id);
        if (!is_op(node, "Clip") && !is_op(node, "Min") && !is_op(node, "Max") && !is_op(node, "Mul") &&
            !is_op(node, "Div"))
            return false;
        const std::optional<Gate> gate = gate_at(graph, uses, id);
        if (!gate) return false;
        const std::string site = site_of(graph, id);
        Attributes attributes;
        attributes.set("alpha", static_cast<float>(gate->alpha));
        attributes.set("beta", static_cast<float>(gate->beta));
        append_as(context, node.outputs[0], "HardSigmoid", {gate->x}, std::move(attributes),
                  merged_origins(graph, gate->nodes));
        context.taken(site, "HardSigmoid");
        uses = Uses(graph);
        return true;
    });
}

const Pass rewrite_hard_sigmoid{{
    .name = "rewrite_hard_sigmoid",
    .help = "Recognises HardSigmoid.",
    .enabled = &enabled,
    .run = run,
}};

}  // namespace
}  // namespace headway
