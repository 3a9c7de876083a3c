#include "graph/graph.h"

#include <gtest/gtest.h>

#include <set>

namespace headway {
namespace {

TEST(Graph, FreshNamesAvoidThoseOfTheFile) {
    Graph graph;
    for (const char* name : {"x#0", "x#7", "x", "x#", "x#8a", "y#41", "x#1000000000", "x#99999999999999999999"})
        graph.add_value(name);
    EXPECT_EQ(graph.value(graph.add_fresh_value("x")).name, "x#42");
    EXPECT_EQ(graph.value(graph.add_fresh_value("y")).name, "y#43");
    graph.add_value("z#999999999");
    EXPECT_EQ(graph.value(graph.add_fresh_value("x")).name, "x#1000000001");
    std::set<std::string> names;
    for (ValueId id = 0; id < graph.value_count(); ++id) names.insert(graph.value(id).name);
    EXPECT_EQ(names.size(), static_cast<size_t>(graph.value_count()));
}

TEST(Graph, OrderTakesFreeNodesById) {
    Graph graph;
    const ValueId x = graph.add_value("x");
    graph.inputs = {x};
    std::vector<ValueId> values;
    for (const char* name : {"a", "b", "c", "d"}) values.push_back(graph.add_value(name));
    const auto add = [&](std::vector<ValueId> inputs, ValueId output) {
        Node node;
        node.op = "Add";
        node.inputs = std::move(inputs);
        node.outputs = {output};
        return graph.add_node(std::move(node));
    };
    const NodeId last = add({values[1], values[2], values[2], no_value}, values[3]);
    const NodeId second = add({x, values[0]}, values[1]);
    const NodeId third = add({values[0]}, values[2]);
    const NodeId first = add({x}, values[0]);
    EXPECT_EQ(graph.topological_order(), (std::vector<NodeId>{first, second, third, last}));
    graph.erase_node(third);
    EXPECT_EQ(graph.topological_order(), (std::vector<NodeId>{first, second, last}));
}

}  // namespace
}  // namespace headway
