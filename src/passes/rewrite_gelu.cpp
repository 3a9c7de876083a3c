// x / 2 * (1 + erf(x / sqrt 2)) and its tanh approximation, in any order, become Gelu.
#include <algorithm>
#include <numbers>

#include "passes/match.h"
#include "passes/pass.h"
#include "passes/product.h"
#include "passes/rewrite.h"

namespace headway {
namespace {

const Knob<std::string_view> enabled{{
    .name = "rewrite_gelu",
    .help = "Turns the spelled-out forms of Gelu (erf and tanh) into the operator.",
    .family = "rewrite",
    .values = {"on", "off"},
    .numerics = Numerics::reorders,
    .witness = "gelu",
}};

std::optional<Product> sole_product(const Graph& graph, const Uses& uses, ValueId value) {
    const NodeId producer = graph.value(value).producer;
    return producer != no_node && uses.is_sole(value) ? product_of(graph, uses, producer) : std::nullopt;
}

void join(std::vector<NodeId>& nodes, const std::vector<NodeId>& more) {
    nodes.insert(nodes.end(), more.begin(), more.end());
}

// Whether value = x / sqrt 2.
bool is_erf_argument(const Graph& graph, const Uses& uses, ValueId value, ValueId x, std::vector<NodeId>& nodes) {
    const std::optional<Product> product = sole_product(graph, uses, value);
    if (!product || product->factors != std::vector<ValueId>{x} || !is_near(product->constant, 1 / std::numbers::sqrt2))
        return false;
    join(nodes, product->nodes);
    return true;
}

// Whether value = sqrt(2 / pi) * (x + 0.044715 x^3).
bool is_tanh_argument(const Graph& graph, const Uses& uses, ValueId value, ValueId x, std::vector<NodeId>& nodes) {
    constexpr double cubic = 0.044715;
    const double scale = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
    const std::optional<Product> product = sole_product(graph, uses, value);
    if (!product || product->factors.size() != 1 || !is_near(product->constant, scale)) return false;
    const NodeId sum = made_by(graph, product->factors[0], "Add");
    if (sum == no_node || !uses.is_sole(product->factors[0])) return false;
    const Node& node = graph.node(sum);
    const ValueId cube = node.inputs[0] == x ? node.inputs[1] : node.inputs[0];
    if (node.inputs[0] != x && node.inputs[1] != x) return false;
    const std::optional<Product> term = sole_product(graph, uses, cube);
    if (!term || term->factors != std::vector<ValueId>{x, x, x} || !is_near(term->constant, cubic)) return false;
    join(nodes, product->nodes);
    nodes.push_back(sum);
    join(nodes, term->nodes);
    return true;
}

// "none" or "tanh" when gate = 1 + erf(..x) or 1 + tanh(..x); nullptr otherwise.
const char* approximation(const Graph& graph, const Uses& uses, ValueId gate, ValueId x, std::vector<NodeId>& nodes) {
    const std::optional<Shifted> sum = shifted(graph, gate);
    if (!sum || sum->shift != 1 || !uses.is_sole(gate) || !uses.is_sole(sum->inner)) return nullptr;
    nodes.push_back(sum->node);
    for (const auto& [op, name] : {std::pair{"Erf", "none"}, std::pair{"Tanh", "tanh"}}) {
        const NodeId id = made_by(graph, sum->inner, op);
        if (id == no_node) continue;
        nodes.push_back(id);
        const ValueId argument = graph.node(id).inputs[0];
        const bool fits = op[0] == 'E' ? is_erf_argument(graph, uses, argument, x, nodes)
                                       : is_tanh_argument(graph, uses, argument, x, nodes);
        return fits ? name : nullptr;
    }
    return nullptr;
}

bool rewrite(PassContext& context, NodeId root) {
    Graph& graph = context.graph;
    const Uses uses(graph);
    const std::optional<Product> product = product_of(graph, uses, root);
    if (!product || product->factors.size() != 2 || !is_near(product->constant, 0.5)) return false;
    for (int i : {0, 1}) {
        const ValueId x = product->factors[static_cast<size_t>(i)], gate = product->factors[static_cast<size_t>(1 - i)];
        std::vector<NodeId> nodes = product->nodes;
        const char* name = approximation(graph, uses, gate, x, nodes);
        if (!name) continue;
        const std::string site = site_of(graph, root);
        Attributes attributes;
        attributes.set("approximate", std::string(name));
        append_as(context, graph.node(root).outputs[0], "Gelu", {x}, std::move(attributes),
                  merged_origins(graph, nodes));
        context.taken(site, "Gelu");
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

const Pass rewrite_gelu{{
    .name = "rewrite_gelu",
    .help = "Recognises Gelu.",
    .enabled = &enabled,
    .run = run,
}};

}  // namespace
}  // namespace headway
