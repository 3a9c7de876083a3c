#include "lower/schedule.h"

#include <algorithm>

#include "tensor/layout.h"

namespace headway {
namespace {

const Knob<std::string_view> schedule_order{{
    .name = "schedule.order",
    .help = "Order of steps: as in the file, each branch to its end before the next, or whatever keeps the least "
            "memory alive.",
    .family = "thread",
    .values = {"file", "depth_first", "min_memory"},
    .witness = "two_branches",
}};

std::vector<NodeId> depth_first(const Graph& graph) {
    std::vector<NodeId> order;
    std::vector<bool> seen(static_cast<size_t>(graph.node_count()), false);
    std::vector<std::pair<NodeId, size_t>> stack;
    const auto push = [&](ValueId value) {
        if (value == no_value) return;
        const NodeId producer = graph.value(value).producer;
        if (producer == no_node || seen[static_cast<size_t>(producer)]) return;
        seen[static_cast<size_t>(producer)] = true;
        stack.emplace_back(producer, 0);
    };
    for (ValueId output : graph.outputs) {
        push(output);
        while (!stack.empty()) {
            const NodeId node = stack.back().first;
            const size_t next = stack.back().second++;
            if (next < graph.node(node).inputs.size()) {
                push(graph.node(node).inputs[next]);
            } else {
                order.push_back(node);
                stack.pop_back();
            }
        }
    }
    return order;
}

int64_t bytes_of(const Graph& graph, ValueId id) {
    return TensorDesc{graph.value(id).type, graph.value(id).shape(), Layout::plain}.bytes();
}

// Among the nodes that are ready, the one that grows the live bytes least; ties in the order of ids.
std::vector<NodeId> min_memory(const Graph& graph) {
    const std::vector<NodeId> nodes = graph.topological_order();
    std::vector<int> readers(static_cast<size_t>(graph.value_count()), 0);
    std::vector<int> waiting(static_cast<size_t>(graph.node_count()), 0);
    const auto consumers = graph.consumers();
    for (NodeId id : nodes)
        for (ValueId input : graph.node(id).inputs) {
            if (input == no_value) continue;
            ++readers[static_cast<size_t>(input)];
            if (graph.value(input).producer != no_node) ++waiting[static_cast<size_t>(id)];
        }
    for (ValueId output : graph.outputs) ++readers[static_cast<size_t>(output)];
    std::vector<NodeId> ready, order;
    for (NodeId id : nodes)
        if (waiting[static_cast<size_t>(id)] == 0) ready.push_back(id);
    const auto growth = [&](NodeId id) {
        int64_t bytes = 0;
        for (ValueId output : graph.node(id).outputs)
            if (output != no_value) bytes += bytes_of(graph, output);
        for (ValueId input : graph.node(id).inputs)
            if (input != no_value && !graph.is_constant(input) && readers[static_cast<size_t>(input)] == 1)
                bytes -= bytes_of(graph, input);
        return bytes;
    };
    while (!ready.empty()) {
        const auto best = std::ranges::min_element(
            ready, [&](NodeId a, NodeId b) { return std::pair(growth(a), a) < std::pair(growth(b), b); });
        const NodeId id = *best;
        ready.erase(best);
        order.push_back(id);
        for (ValueId input : graph.node(id).inputs)
            if (input != no_value) --readers[static_cast<size_t>(input)];
        for (ValueId output : graph.node(id).outputs) {
            if (output == no_value) continue;
            for (NodeId reader : consumers[static_cast<size_t>(output)])
                if (--waiting[static_cast<size_t>(reader)] == 0) ready.push_back(reader);
        }
    }
    return order;
}

}  // namespace

std::vector<NodeId> scheduled_order(const Graph& graph, const Route& route) {
    const std::string_view how = route.get(schedule_order);
    if (how == "depth_first") return depth_first(graph);
    if (how == "min_memory") return min_memory(graph);
    return graph.topological_order();
}

}  // namespace headway
