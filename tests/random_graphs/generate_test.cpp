// The generator, the judge and the shrinker, on failures that are planted.
#include "generate.h"

#include <gtest/gtest.h>

#include <set>

#include "graph/text.h"
#include "isolate.h"
#include "ops/testing.h"
#include "shrink.h"

namespace headway::testing {
namespace {

const Catalogue& everything() {
    static const Catalogue catalogue;
    return catalogue;
}

TEST(RandomGraphs, AreTheSameForTheSameSeed) {
    std::set<std::string> texts;
    for (uint64_t seed = 1; seed <= 20; ++seed) {
        const Cases once = random_cases(seed, everything()), again = random_cases(seed, everything());
        const std::string text = print_trial({once.problem, once.ways.back()});
        EXPECT_EQ(text, print_trial({again.problem, again.ways.back()}));
        EXPECT_EQ(print_trial(parse_trial(text)), text);
        texts.insert(text);
    }
    EXPECT_EQ(texts.size(), 20U);
}

// Few of the operators are rare enough to be missed by a thousand graphs.
TEST(RandomGraphs, HoldManyOperators) {
    std::set<std::string> ops;
    for (uint64_t seed = 1; seed <= 300; ++seed) {
        const Cases cases = random_cases(seed, everything());
        const Graph& graph = cases.problem.graph;
        for (NodeId id = 0; id < graph.node_count(); ++id) ops.insert(graph.node(id).op);
    }
    for (const char* op : {"Conv",
                           "ConvTranspose",
                           "MatMul",
                           "Gemm",
                           "MaxPool",
                           "AveragePool",
                           "LSTM",
                           "If",
                           "Resize",
                           "Pad",
                           "QuantizeLinear",
                           "DequantizeLinear",
                           "QLinearMatMul",
                           "QLinearConv",
                           "ConvInteger",
                           "Softmax",
                           "LayerNormalization",
                           "TopK",
                           "ScatterElements",
                           "Where",
                           "Slice",
                           "Split",
                           "Gather"})
        EXPECT_TRUE(ops.contains(op)) << op;
    EXPECT_GE(ops.size(), 90U);
}

Allowed allowed_of(const std::string& text) {
    const Graph graph = bind(parse_graph(text), {}, everything().ops);
    const std::vector<Tensor> inputs{ramp({8}, -3)};
    return allowed_errors(graph, inputs, interpret(graph, inputs, everything().ops), 0, everything().ops)[0];
}

TEST(AllowedErrors, AreNothingWhereNothingIsRounded) {
    for (const double distance : allowed_of("graph { input %x: f32[8] %y = Relu(%x) %z = Neg(%y) output %z }").distance)
        EXPECT_EQ(distance, 0);
}

// Rounding of the sine is one part in a million, which the exponential of fifteen times as much lets grow.
TEST(AllowedErrors, GrowAsTheGraphLetsThemGrow) {
    const Allowed small = allowed_of("graph { input %x: f32[8] %y = Sin(%x) output %y }");
    const Allowed large = allowed_of(
        "graph { input %x: f32[8] const %k: f32[] = {15} %s = Sin(%x) %t = Mul(%s, %k) %y = Exp(%t) output %y }");
    for (size_t i = 0; i < 8; ++i) {
        EXPECT_GT(small.distance[i], 1e-7);
        EXPECT_LT(small.distance[i], 1e-3);
    }
    EXPECT_GT(large.distance[5], 100 * small.distance[5]);
}

TEST(Expectation, SaysWhatIsRefused) {
    const Trial trial = parse_trial(
        "# target: baseline\n# route: no.such_knob=1\n# inputs: 1\ngraph { input %x: f32[2] %y = Relu(%x) output %y }");
    EXPECT_TRUE(failure_of(trial, everything()).starts_with("refused: ")) << failure_of(trial, everything());
}

// A failure that needs one operator and one setting is shrunk to them.
TEST(Shrink, LeavesWhatTheFailureNeeds) {
    int shrunk_ones = 0;
    for (uint64_t seed = 1; seed < 400 && shrunk_ones < 3; ++seed) {
        const Cases cases = random_cases(seed, everything());
        const auto fails = [](const Trial& trial) {
            const Graph& graph = trial.problem.graph;
            bool pools = false;
            for (NodeId id = 0; id < graph.node_count(); ++id) pools = pools || graph.node(id).op == "MaxPool";
            return pools && trial.way.route.find("fuse_bias=off") != std::string::npos;
        };
        const Trial trial{cases.problem, cases.ways[1]};
        if (!fails(trial)) continue;
        ++shrunk_ones;
        const Trial small = shrunk(trial, fails, everything(), 2000);
        EXPECT_EQ(small.way.route, "fuse_bias=off");
        EXPECT_EQ(small.problem.graph.node_count(), 1) << print_graph(small.problem.graph);
        for (ValueId id : small.problem.graph.inputs)
            EXPECT_LE(small.problem.graph.value(id).shape().elements(), 16) << print_graph(small.problem.graph);
    }
    EXPECT_EQ(shrunk_ones, 3);
}

TEST(Isolated, CrashesAndHangsAreAnswers) {
    EXPECT_EQ(isolated(10, [](const Writer& write) { write("well"); }).text, "well");
    const Answer crash = isolated(10, [](const Writer& write) {
        write("so far");
        std::abort();
    });
    EXPECT_EQ(crash.text, "so far");
    EXPECT_NE(crash.end.find("signal 6"), std::string::npos) << crash.end;
    EXPECT_NE(isolated(1,
                       [](const Writer&) {
                           for (volatile int k = 0;;) k = k + 1;
                       })
                  .end.find("signal 14"),
              std::string::npos);
}

}  // namespace
}  // namespace headway::testing
