// x * clip(x + 3, 0, 6) / 6, in any order and spelling, and x * HardSigmoid(x) with 1/6 and 1/2, become HardSwish.
#include "passes/match.h"
#include "passes/pass.h"
#include "passes/product.h"
#include "passes/rewrite.h"

namespace headway {
namespace {

const Knob<std::string_view> enabled{{
    .name = "rewrite_hard_swish",
    .help = "Turns the spelled-out forms of HardSwish into the operator.",
    .family = "rewrite",
    .values = {"on", "off"},
    .numerics = Numerics::reorders,
    .witness = "conv_hard_swish",
}};

// The nodes that make `gate` a hard sigmoid of x up to the factor `constant`; empty when it is none.
std::vector<NodeId> hard_gate(const Graph& graph, const Uses& uses, ValueId gate, ValueId x, double constant) {
    if (const NodeId id = made_by(graph, gate, "HardSigmoid"); id != no_node) {
        const Attributes& attributes = graph.node(id).attributes;
        const bool fits = graph.node(id).inputs[0] == x && is_near(attributes.real("alpha", 0.2F), 1.0 / 6) &&
                          attributes.real("beta", 0.5F) == 0.5F && is_near(constant, 1);
        return fits ? std::vector<NodeId>{id} : std::vector<NodeId>{};
    }
    std::optional<Limited> clip = limited(graph, uses, gate);
    if (!clip || clip->low != 0 || clip->high != 6 || !is_near(constant, 1.0 / 6) || !uses.is_sole(clip->inner))
        return {};
    const std::optional<Shifted> sum = shifted(graph, clip->inner);
    if (!sum || sum->inner != x || sum->shift != 3) return {};
    clip->nodes.push_back(sum->node);
    return clip->nodes;
}

bool rewrite(PassContext& context, NodeId root) {
    Graph& graph = context.graph;
    const Uses uses(graph);
    const std::optional<Product> product = product_of(graph, uses, root);
    if (!product || product->factors.size() != 2) return false;
    for (int i : {0, 1}) {
        const ValueId x = product->factors[static_cast<size_t>(i)], gate = product->factors[static_cast<size_t>(1 - i)];
        std::vector<NodeId> nodes = hard_gate(graph, uses, gate, x, product->constant);
        if (nodes.empty()) continue;
        const std::string site = site_of(graph, root);
        if (!uses.is_sole(gate)) {
            context.refused(site, "HardSwish", Verdict::no(Reason::consumers, "the gate is read elsewhere"));
            return false;
        }
        nodes.insert(nodes.begin(), product->nodes.begin(), product->nodes.end());
        append_as(context, graph.node(root).outputs[0], "HardSwish", {x}, {}, merged_origins(graph, nodes));
        context.taken(site, "HardSwish");
        return true;
    }
    return false;
}

bool run(PassContext& context) {
    return rewrite_each(context.graph, [&](NodeId id) {
        const Node& node = context.graph.node(id);
        return (is_op(node, "Mul") || is_op(node, "Div")) && rewrite(context, id);
    });
}

const Pass rewrite_hard_swish{{
    .name = "rewrite_hard_swish",
    .help = "Recognises HardSwish.",
    .enabled = &enabled,
    .run = run,
}};

}  // namespace
}  // namespace headway
