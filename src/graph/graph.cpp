#include "graph/graph.h"

#include <algorithm>
#include <charconv>
#include <queue>

#include "base/error.h"

namespace headway {
namespace {

// Larger numbers behind a '#' are looked up instead.
constexpr int64_t most_counted = 999'999'999;

// The number behind the last '#' of a name; -1 when there is none up to most_counted.
int64_t number_behind_hash(std::string_view name) {
    constexpr size_t most_digits = 9;
    const size_t hash = name.rfind('#');
    if (hash == std::string_view::npos) return -1;
    const std::string_view digits = name.substr(hash + 1);
    if (digits.empty() || digits.size() > most_digits) return -1;
    int64_t number = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    return error == std::errc{} && end == digits.data() + digits.size() ? number : -1;
}

}  // namespace

std::string_view to_string(DeclaredKind kind) {
    if (kind == DeclaredKind::tensor) return "tensor";
    return kind == DeclaredKind::sequence ? "sequence" : "optional";
}

bool Value::has_static_shape() const {
    return dims.has_value() && std::ranges::all_of(*dims, [](const Dim& dim) { return dim.known(); });
}

Shape Value::shape() const {
    HEADWAY_CHECK(has_static_shape());
    std::vector<int64_t> extents;
    for (const Dim& dim : *dims) extents.push_back(dim.extent);
    return Shape(std::move(extents));
}

void Value::set_shape(const Shape& shape) {
    dims.emplace();
    for (int64_t extent : shape) dims->push_back({extent, ""});
}

// A name that ends like a fresh one moves the counter past it, so that fresh names need no look-up: '#' is legal in
// ONNX names.
ValueId Graph::add_value(std::string name, ElementType type) {
    fresh_ = std::max(fresh_, number_behind_hash(name) + 1);
    values_.push_back({std::move(name), type, std::nullopt, std::nullopt, no_node, DeclaredKind::tensor});
    return static_cast<ValueId>(values_.size() - 1);
}

ValueId Graph::add_fresh_value(std::string_view hint, ElementType type) {
    std::string name;
    do {
        name = std::string(hint) + "#" + std::to_string(fresh_++);
    } while (fresh_ > most_counted && find_value(name) != no_value);
    return add_value(std::move(name), type);
}

ValueId Graph::add_constant(std::string_view hint, Tensor tensor) {
    const ValueId id = add_fresh_value(hint, tensor.type());
    value(id).set_shape(tensor.shape());
    value(id).constant = std::move(tensor);
    return id;
}

NodeId Graph::add_node(Node node) {
    const auto id = static_cast<NodeId>(nodes_.size());
    for (ValueId output : node.outputs)
        if (output != no_value) value(output).producer = id;
    nodes_.push_back(std::move(node));
    return id;
}

ValueId Graph::find_value(std::string_view name) const {
    for (size_t i = 0; i < values_.size(); ++i)
        if (values_[i].name == name) return static_cast<ValueId>(i);
    return no_value;
}

void Graph::erase_node(NodeId id) {
    Node& gone = node(id);
    for (ValueId output : gone.outputs)
        if (output != no_value && value(output).producer == id) value(output).producer = no_node;
    gone = Node{};
    gone.dead = true;
}

void Graph::replace_uses(ValueId from, ValueId to) {
    for (Node& reader : nodes_)
        if (!reader.dead) std::ranges::replace(reader.inputs, from, to);
    std::ranges::replace(outputs, from, to);
}

std::vector<NodeId> Graph::topological_order() const {
    std::vector<int32_t> waiting(nodes_.size(), 0);
    // Readers of node n lie at [first[n], first[n + 1]) of `readers`: one allocation for all.
    std::vector<size_t> first(nodes_.size() + 2, 0);
    std::priority_queue<NodeId, std::vector<NodeId>, std::greater<>> ready;
    const auto for_each_edge = [&](auto&& visit) {
        for (NodeId id = 0; id < node_count(); ++id) {
            if (node(id).dead) continue;
            for (ValueId input : node(id).inputs)
                if (input != no_value && value(input).producer != no_node)
                    visit(static_cast<size_t>(value(input).producer), id);
        }
    };
    for_each_edge([&](size_t producer, NodeId reader) {
        ++first[producer + 2];
        ++waiting[static_cast<size_t>(reader)];
    });
    for (size_t i = 2; i < first.size(); ++i) first[i] += first[i - 1];
    std::vector<NodeId> readers(first.back());
    for_each_edge([&](size_t producer, NodeId reader) { readers[first[producer + 1]++] = reader; });
    size_t live = 0;
    for (NodeId id = 0; id < node_count(); ++id) {
        if (node(id).dead) continue;
        ++live;
        if (waiting[static_cast<size_t>(id)] == 0) ready.push(id);
    }
    std::vector<NodeId> order;
    order.reserve(live);
    while (!ready.empty()) {
        const NodeId id = ready.top();
        ready.pop();
        order.push_back(id);
        for (size_t i = first[static_cast<size_t>(id)]; i < first[static_cast<size_t>(id) + 1]; ++i)
            if (--waiting[static_cast<size_t>(readers[i])] == 0) ready.push(readers[i]);
    }
    HEADWAY_CHECK(order.size() == live);
    return order;
}

std::vector<std::vector<NodeId>> Graph::consumers() const {
    std::vector<std::vector<NodeId>> readers(values_.size());
    for (NodeId id = 0; id < node_count(); ++id) {
        if (node(id).dead) continue;
        for (ValueId input : node(id).inputs)
            if (input != no_value) readers[static_cast<size_t>(input)].push_back(id);
    }
    return readers;
}

bool Graph::is_output(ValueId id) const { return std::ranges::find(outputs, id) != outputs.end(); }

void Graph::compact() {
    const std::vector<NodeId> order = topological_order();
    std::vector<bool> used(values_.size(), false);
    const auto mark = [&](ValueId id) {
        if (id != no_value) used[static_cast<size_t>(id)] = true;
    };
    std::ranges::for_each(inputs, mark);
    std::ranges::for_each(outputs, mark);
    for (NodeId id : order) {
        std::ranges::for_each(node(id).inputs, mark);
        std::ranges::for_each(node(id).outputs, mark);
        // A sub-graph captures outer values by name.
        if (!node(id).subgraphs.empty()) std::fill(used.begin(), used.end(), true);
    }
    std::vector<ValueId> renumbered(values_.size(), no_value);
    std::vector<Value> values;
    for (size_t i = 0; i < values_.size(); ++i) {
        if (!used[i]) continue;
        renumbered[i] = static_cast<ValueId>(values.size());
        values.push_back(std::move(values_[i]));
        values.back().producer = no_node;
    }
    const auto renumber = [&](ValueId& id) {
        if (id != no_value) id = renumbered[static_cast<size_t>(id)];
    };
    std::vector<Node> nodes;
    for (NodeId id : order) nodes.push_back(std::move(node(id)));
    values_ = std::move(values);
    nodes_ = std::move(nodes);
    std::ranges::for_each(inputs, renumber);
    std::ranges::for_each(outputs, renumber);
    for (NodeId id = 0; id < node_count(); ++id) {
        std::ranges::for_each(node(id).inputs, renumber);
        std::ranges::for_each(node(id).outputs, renumber);
        for (ValueId output : node(id).outputs)
            if (output != no_value) value(output).producer = id;
    }
}

}  // namespace headway
