#include "passes/manager.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/error.h"
#include "base/file.h"
#include "graph/text.h"
#include "passes/match.h"
#include "passes/rewrite.h"

namespace headway {
namespace {

class ManagerTest : public testing::Test {
protected:
    PassContext context(Graph& graph) { return {graph, route_, target_, ops_, decisions_, {}}; }

    Route route_;
    Target target_;
    Registry<Op> ops_ = declared<Op>();
    std::vector<Decision> decisions_;
};

// A pass that leaves the list of declarations with the test.
struct PassingPass {
    explicit PassingPass(Pass::Fields fields) : pass(std::move(fields)) {}
    ~PassingPass() { announced<Pass>().pop_back(); }
    PassingPass(const PassingPass&) = delete;
    PassingPass& operator=(const PassingPass&) = delete;
    Pass pass;
};

Graph small_graph() {
    Graph graph = parse_graph(R"(graph {
        input %x: f32[2]
        %a: f32[2] = Relu(%x)
        %b: f32[2] = Neg(%a)
        output %a
    })");
    return graph;
}

TEST_F(ManagerTest, CleansUpBehindAPass) {
    Graph graph = small_graph();
    PassContext given = context(graph);
    const PassingPass nothing({.name = "test_nothing", .help = "", .run = [](PassContext&) { return true; }});
    EXPECT_TRUE(run_pass(nothing.pass, given, small_graph));
    EXPECT_EQ(graph.node_count(), 1);
}

TEST_F(ManagerTest, NamesThePassAndWritesAReproducer) {
    Graph graph = small_graph();
    PassContext given = context(graph);
    const PassingPass broken({.name = "test_broken", .help = "", .run = [](PassContext& c) -> bool {
                                  c.graph.erase_node(0);
                                  throw InternalError("it broke");
                              }});
    try {
        run_pass(broken.pass, given, small_graph);
        FAIL();
    } catch (const InternalError& error) {
        const std::string what = error.what();
        EXPECT_NE(what.find("pass test_broken: it broke"), std::string::npos) << what;
        const size_t at = what.find("reproducer: ");
        ASSERT_NE(at, std::string::npos) << what;
        const std::string path = what.substr(at + 12, what.size() - at - 13);
        const std::string text = read_file(path);
        EXPECT_NE(text.find("# pass: test_broken"), std::string::npos);
        EXPECT_EQ(parse_graph(text).node_count(), 2);
        std::filesystem::remove(path);
    }
}

TEST_F(ManagerTest, KnowsNoConstantThatACallerMayOverride) {
    // Case G14: an initialiser that is also a graph input.
    Graph graph = small_graph();
    graph.value(graph.inputs[0]).constant = Tensor(ElementType::f32, Shape{2});
    EXPECT_EQ(known(graph, graph.inputs[0]), nullptr);
}

TEST_F(ManagerTest, ReplacingAnOutputKeepsItsName) {
    Graph graph = parse_graph(R"(graph {
        input %x: f32[2]
        %a: f32[2] = Relu(%x)
        %y: f32[2] = Identity(%a)
        output %y
    })");
    PassContext given = context(graph);
    EXPECT_TRUE(replace_value(given, graph.outputs[0], graph.find_value("a")));
    EXPECT_EQ(graph.value(graph.outputs[0]).name, "y");
    EXPECT_EQ(graph.node(graph.value(graph.outputs[0]).producer).op, "Relu");
}

TEST_F(ManagerTest, ReadersOfAnOutputThatBecomesACopyReadTheOriginal) {
    Graph graph = parse_graph(R"(graph {
        input %x: f32[2]
        %y: f32[2] = Relu(%x)
        %a: f32[2] = Neg(%y)
        %b: f32[2] = Abs(%y)
        output %y
        output %a
        output %b
    })");
    PassContext given = context(graph);
    EXPECT_TRUE(replace_value(given, graph.outputs[0], graph.inputs[0]));
    EXPECT_EQ(graph.node(graph.value(graph.outputs[0]).producer).op, "Identity");
    for (size_t k : {1U, 2U}) EXPECT_EQ(graph.node(graph.value(graph.outputs[k]).producer).inputs[0], graph.inputs[0]);
}

}  // namespace
}  // namespace headway
