#include "passes/product.h"

#include <algorithm>
#include <limits>

namespace headway {
namespace {

// A malformed model must not make a pattern search deep.
constexpr size_t most_nodes = 16;

bool is_f32(const Graph& graph, NodeId id) { return graph.value(graph.node(id).outputs[0]).type == ElementType::f32; }

// The operand and the number of a binary node with a number; nothing else.
struct Number {
    ValueId variable;
    float value;
    bool first;
};
std::optional<Number> with_number(const Graph& graph, NodeId id) {
    const auto operand = constant_operand(graph, graph.node(id));
    if (!operand) return std::nullopt;
    const std::optional<float> number = uniform_constant(graph, operand->constant);
    if (!number) return std::nullopt;
    return Number{operand->variable, *number, operand->constant_first};
}

class Flattening {
public:
    Flattening(const Graph& graph, const Uses& uses) : graph_(graph), uses_(uses) {}

    bool add_node(NodeId id) {
        const Node& node = graph_.node(id);
        if (!is_f32(graph_, id) || product_.nodes.size() >= most_nodes) return false;
        const std::optional<Number> number = with_number(graph_, id);
        if (is_op(node, "Mul") && number) {
            enter(id, number->value);
            add_value(number->variable);
        } else if (is_op(node, "Mul")) {
            enter(id, 1);
            add_value(node.inputs[0]);
            add_value(node.inputs[1]);
        } else if (is_op(node, "Div") && number && !number->first && number->value != 0) {
            enter(id, 1.0 / number->value);
            add_value(number->variable);
        } else if (is_op(node, "Pow") && number && !number->first && (number->value == 2 || number->value == 3)) {
            enter(id, 1);
            product_.factors.insert(product_.factors.end(), static_cast<size_t>(number->value), number->variable);
        } else {
            return false;
        }
        return true;
    }

    Product take() { return std::move(product_); }

private:
    void enter(NodeId id, double constant) {
        product_.nodes.push_back(id);
        product_.constant *= constant;
    }
    void add_value(ValueId value) {
        const NodeId producer = graph_.value(value).producer;
        if (producer != no_node && uses_.is_sole(value) && add_node(producer)) return;
        product_.factors.push_back(value);
    }

    const Graph& graph_;
    const Uses& uses_;
    Product product_;
};

}  // namespace

std::optional<Product> product_of(const Graph& graph, const Uses& uses, NodeId root) {
    Flattening flattening(graph, uses);
    if (!flattening.add_node(root)) return std::nullopt;
    return flattening.take();
}

std::optional<Limited> limited(const Graph& graph, const Uses& uses, ValueId value) {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    if (const NodeId clip = made_by(graph, value, "Clip"); clip != no_node) {
        const std::optional<Bounds> bounds = clip_bounds(graph, graph.node(clip));
        if (!bounds || !is_f32(graph, clip)) return std::nullopt;
        return Limited{graph.node(clip).inputs[0], bounds->low, bounds->high, {clip}};
    }
    Limited result{value, -infinity, infinity, {}};
    // min(max(x, low), high) and max(min(x, high), low) are the same for low <= high.
    while (result.nodes.size() < 2) {
        const NodeId id = graph.value(result.inner).producer;
        if (id == no_node || !is_f32(graph, id) || (!result.nodes.empty() && !uses.is_sole(result.inner))) break;
        const Node& node = graph.node(id);
        const std::optional<Number> number = with_number(graph, id);
        if (is_op(node, "Relu") && result.low == -infinity) {
            result.low = 0;
            result.inner = node.inputs[0];
        } else if (is_op(node, "Max") && number && result.low == -infinity) {
            result.low = number->value;
            result.inner = number->variable;
        } else if (is_op(node, "Min") && number && result.high == infinity) {
            result.high = number->value;
            result.inner = number->variable;
        } else {
            break;
        }
        result.nodes.push_back(id);
    }
    if (result.nodes.size() != 2 || !(result.low <= result.high)) return std::nullopt;
    return result;
}

std::optional<Shifted> shifted(const Graph& graph, ValueId value) {
    for (const char* op : {"Add", "Sub"}) {
        const NodeId id = made_by(graph, value, op);
        if (id == no_node || !is_f32(graph, id)) continue;
        const std::optional<Number> number = with_number(graph, id);
        if (!number || (op[0] == 'S' && number->first)) return std::nullopt;
        return Shifted{number->variable, op[0] == 'S' ? -number->value : number->value, id};
    }
    return std::nullopt;
}

}  // namespace headway
