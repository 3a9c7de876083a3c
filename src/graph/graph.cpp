#include "graph/graph.h"

#include <algorithm>
#include <queue>

#include "base/error.h"

namespace headway {

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

ValueId Graph::add_value(std::string name, ElementType type) {
    values_.push_back({std::move(name), type, std::nullopt, std::nullopt, no_node, DeclaredKind::tensor});
    return static_cast<ValueId>(values_.size() - 1);
}

ValueId Graph::add_fresh_value(std::string_view hint, ElementType type) {
    // '#' is legal in ONNX names, so the number alone cannot promise uniqueness.
    std::string name;
    do {
        name = std::string(hint) + "#" + std::to_string(fresh_++);
    } while (find_value(name) != no_value);
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
    std::vector<std::vector<NodeId>> readers(nodes_.size());
    std::priority_queue<NodeId, std::vector<NodeId>, std::greater<>> ready;
    size_t live = 0;
    for (NodeId id = 0; id < node_count(); ++id) {
        if (node(id).dead) continue;
        ++live;
        for (ValueId input : node(id).inputs) {
            if (input == no_value || value(input).producer == no_node) continue;
            ++waiting[static_cast<size_t>(id)];
            readers[static_cast<size_t>(value(input).producer)].push_back(id);
        }
        if (waiting[static_cast<size_t>(id)] == 0) ready.push(id);
    }
    std::vector<NodeId> order;
    order.reserve(live);
    while (!ready.empty()) {
        const NodeId id = ready.top();
        ready.pop();
        order.push_back(id);
        for (NodeId reader : readers[static_cast<size_t>(id)])
            if (--waiting[static_cast<size_t>(reader)] == 0) ready.push(reader);
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
