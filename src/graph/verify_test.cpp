#include "graph/verify.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "graph/text.h"

namespace headway {
namespace {

std::string failure_of(const Graph& graph, Stage stage) {
    try {
        verify_graph(graph, stage);
    } catch (const InternalError& error) {
        return error.what();
    }
    return "";
}

Graph chain() {
    return parse_graph(R"(graph {
        input %x: f32[2]
        const %k: f32[2] = {1,2}
        %y: f32[2] = Add(%x, %k)
        %z: f32[2] = Neg(%y)
        output %z
    })");
}

TEST(Verify, AcceptsASoundGraph) {
    verify_graph(chain(), Stage::imported);
    verify_graph(chain(), Stage::bound);
    verify_graph(chain(), Stage::grouped);
}

TEST(Verify, NamesTheBrokenRule) {
    const auto broken = [](auto&& damage) {
        Graph graph = chain();
        damage(graph);
        return failure_of(graph, Stage::bound);
    };
    EXPECT_EQ(broken([](Graph& g) { g.value(2).name = "x"; }), "graph verifier: two values are named \"x\"");
    EXPECT_EQ(broken([](Graph& g) { g.value(2).name = ""; }), "graph verifier: value 2 has no name");
    EXPECT_EQ(broken([](Graph& g) { g.node(0).inputs[0] = 3; }),
              "graph verifier: Add node \"Add#0\" stands on or behind a cycle");
    EXPECT_EQ(broken([](Graph& g) { g.node(1).inputs[0] = 17; }),
              "graph verifier: Neg node \"Neg#0\" has value id 17 out of range");
    EXPECT_EQ(broken([](Graph& g) { g.node(1).outputs[0] = 2; }), "graph verifier: value \"y\" is produced twice");
    EXPECT_EQ(broken([](Graph& g) { g.value(3).producer = 0; }),
              "graph verifier: value \"z\" names the wrong producer");
    EXPECT_EQ(broken([](Graph& g) { g.erase_node(0); }),
              "graph verifier: value \"y\" is read by Neg node \"Neg#0\" but nothing produces it");
    EXPECT_EQ(broken([](Graph& g) { g.erase_node(1); }),
              "graph verifier: value \"z\" is read by a graph output but nothing produces it");
    EXPECT_EQ(broken([](Graph& g) { g.value(1).set_shape(Shape{3}); }),
              "graph verifier: constant value \"k\" has another type or shape than its tensor");
    EXPECT_EQ(broken([](Graph& g) { g.node(0).origins.clear(); }),
              "graph verifier: Add node \"without origin\" has no origin");
    EXPECT_EQ(broken([](Graph& g) { g.value(2).dims.reset(); }), "graph verifier: value \"y\" has no static shape");
    EXPECT_EQ(broken([](Graph& g) { g.value(2).type = ElementType::undefined; }),
              "graph verifier: value \"y\" has no type");
    EXPECT_EQ(broken([](Graph& g) { g.inputs.push_back(0); }), "graph verifier: value \"x\" is a graph input twice");
    EXPECT_EQ(broken([](Graph& g) { g.inputs.push_back(3); }),
              "graph verifier: graph input value \"z\" has a producer");
}

TEST(Verify, StagesForbidWhatIsNotThereYet) {
    const Graph branch = parse_graph(R"(graph {
        input %c: bool[]
        %y: f32[] = If(%c) {then_branch=graph { const %k: f32[] = {1} output %k }}
        output %y
    })");
    EXPECT_EQ(failure_of(branch, Stage::imported), "");
    EXPECT_NE(failure_of(branch, Stage::bound).find("sub-graph after binding"), std::string::npos);
    const Graph group = parse_graph(R"(graph {
        input %x: f32[2]
        %y: f32[2] = Group(%x) {graph { input %i: f32[2] %n: f32[2] = Neg(%i) output %n }}
        output %y
    })");
    EXPECT_EQ(failure_of(group, Stage::grouped), "");
    EXPECT_NE(failure_of(group, Stage::bound).find("before grouping"), std::string::npos);
}

TEST(Verify, ChecksTheBodyOfAGroup) {
    const auto failure = [](const std::string& body) {
        return failure_of(
            parse_graph("graph { input %x: f32[2] %y: f32[2] = Group(%x) {graph {" + body + "}} output %y }"),
            Stage::grouped);
    };
    EXPECT_NE(failure("input %i: f32[3] output %i").find("differs in type or shape"), std::string::npos);
    EXPECT_NE(failure("const %i: f32[2] = {1,2} output %i").find("other numbers"), std::string::npos);
    EXPECT_NE(failure("input %i: f32[2] %n = Neg(%i) output %n").find("no type"), std::string::npos);
}

TEST(Verify, ACaptureMustExistOutside) {
    Graph graph = parse_graph(R"(graph {
        input %c: bool[]
        %x: f32[] = Make()
        %y = If(%c) {then_branch=graph { %n = Neg(%x) output %n }}
        output %y
    })");
    EXPECT_EQ(failure_of(graph, Stage::imported), "");
    graph.erase_node(0);
    EXPECT_NE(failure_of(graph, Stage::imported).find("\"x\" is read by Neg"), std::string::npos);
}

}  // namespace
}  // namespace headway
