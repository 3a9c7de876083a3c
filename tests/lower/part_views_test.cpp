// Concat, Split and Slice without copies: the engine gives what the interpreter gives, and moves no more than it must.
#include <gtest/gtest.h>

#include "support/graph_engine.h"

namespace headway {
namespace {

using testing::catalogue;

struct Case {
    const char* name;
    int moves;  // steps that only move bytes, plain layouts
    const char* graph;
};

const Case cases[] = {
    {"ConcatOfOnePartTwice", 1, R"(graph {
  input %x: f32[1,3,5,7]
  %a = Sin(%x)
  %b = Cos(%x)
  %c = Concat(%a, %b, %a) {axis=1}
  %y = ReduceSum(%c) {keepdims=1}
  %z = MaxPool(%c) {kernel_shape=[3,3]}
  output %y
  output %z
})"},
    {"ConcatOfAnInput", 1, R"(graph {
  input %x: f32[1,3,5,7]
  %a = Sin(%x)
  %b = Cos(%x)
  %c = Concat(%a, %b, %x) {axis=1}
  %z = MaxPool(%c) {kernel_shape=[3,3]}
  output %z
})"},
    {"ConcatOfResults", 2, R"(graph {
  input %x: f32[1,3,5,7]
  %a = Sin(%x)
  %b = Cos(%x)
  %e = Exp(%x)
  %c = Concat(%a, %b, %e) {axis=1}
  %f = Flatten(%b)
  %z = MaxPool(%c) {kernel_shape=[3,3]}
  output %a
  output %f
  output %z
})"},
    {"ConcatInConcat", 0, R"(graph {
  input %x: f32[17,3]
  %a = Sin(%x)
  %b = Cos(%x)
  %c = Concat(%a, %b) {axis=0}
  %s = Softmax(%c) {axis=1}
  %d = Concat(%c, %s) {axis=0}
  %t = Softmax(%d) {axis=1}
  %y = ReduceMax(%d) {axes=[1]}
  output %t
  output %y
})"},
    {"TwoConcatsOfOnePart", 1, R"(graph {
  input %x: f32[24,3]
  %a = Sin(%x)
  %b = Cos(%x)
  %c = Concat(%a, %b) {axis=0}
  %d = Concat(%b, %a) {axis=0}
  %y = Softmax(%c) {axis=1}
  %z = Softmax(%d) {axis=1}
  output %y
  output %z
})"},
    {"WrittenOverInPlace", 0, R"(graph {
  input %x: f32[24,3]
  %a = Sin(%x)
  %b = Softmax(%a) {axis=1}
  %c = Concat(%a, %b) {axis=0}
  %d = Softmax(%c) {axis=1}
  %e = Relu(%a)
  %f = Softmax(%e) {axis=1}
  %g = Concat(%d, %f) {axis=0}
  %y = Softmax(%g) {axis=0}
  output %y
})"},
    {"Split", 0, R"(graph {
  input %x: f32[1,17,5,3]
  const %s: i64[3] = {1,13,3}
  %t = Sin(%x)
  %a, %b, %c = Split:13(%t, %s) {axis=1}
  %d = MaxPool(%a) {kernel_shape=[3,3]}
  %e = MaxPool(%b) {kernel_shape=[3,3]}
  %f = MaxPool(%c) {kernel_shape=[3,3]}
  output %d
  output %e
  output %f
})"},
    {"SplitResult", 1, R"(graph {
  input %x: f32[9,4]
  const %s: i64[2] = {3,6}
  %t = Sin(%x)
  %a, %b = Split:13(%t, %s) {axis=0}
  %d = Softmax(%b) {axis=1}
  output %a
  output %d
})"},
    {"PiecesWrittenOver", 0, R"(graph {
  input %x: f32[4,6]
  const %0: i64[1] = {0}
  const %1: i64[1] = {1}
  const %3: i64[1] = {3}
  const %4: i64[1] = {4}
  const %axis: i64[1] = {0}
  %t = Sin(%x)
  %a = Slice(%t, %0, %3, %axis)
  %b = Slice(%t, %1, %4, %axis)
  %c = Relu(%a)
  %d = Softmax(%c) {axis=1}
  %e = Neg(%b)
  %f = Softmax(%e) {axis=1}
  %y = Softmax(%t) {axis=1}
  output %d
  output %f
  output %y
})"},
    {"SliceAcrossParts", 0, R"(graph {
  input %x: f32[4,6]
  const %begin: i64[1] = {2}
  const %end: i64[1] = {6}
  const %axis: i64[1] = {0}
  %a = Sin(%x)
  %b = Softmax(%a) {axis=1}
  %c = Concat(%a, %b) {axis=0}
  %d = Slice(%c, %begin, %end, %axis)
  %y = Softmax(%d) {axis=1}
  %z = Softmax(%c) {axis=0}
  output %y
  output %z
})"},
    {"NotInOnePiece", 2, R"(graph {
  input %x: f32[2,6]
  const %begin: i64[1] = {2}
  const %end: i64[1] = {5}
  const %axis: i64[1] = {1}
  %a = Sin(%x)
  %b = Softmax(%a) {axis=1}
  %c = Concat(%a, %b) {axis=1}
  %d = Slice(%a, %begin, %end, %axis)
  %y = Softmax(%d) {axis=1}
  %z = Softmax(%c) {axis=1}
  output %y
  output %z
})"},
    {"Empty", 0, R"(graph {
  input %x: f32[1,3]
  input %e: f32[0,3]
  %a = Sin(%x)
  %b = Cos(%e)
  %c = Concat(%a, %b) {axis=0}
  %y = Softmax(%c) {axis=1}
  output %y
})"},
};

int moving_steps(const Plan& plan) {
    return static_cast<int>(std::ranges::count_if(plan.steps, [](const Step& step) {
        return step.problem.op == "Concat" || step.problem.op == "Split" || step.problem.op == "Slice" ||
               step.problem.op == "Identity" || step.problem.op == "Reorder";
    }));
}

class PartViews : public ::testing::TestWithParam<Case> {};

TEST_P(PartViews, GiveTheSameInEveryLayout) {
    const Graph graph = parse_graph(GetParam().graph);
    const std::vector<Tensor> inputs = testing::random_inputs(graph);
    const std::vector<Tensor> want = interpret(graph, inputs, catalogue().ops);
    const Target target = Target::native();
    for (const char* layout : {"auto", "plain", "nhwc", "blocked"})
        for (const char* block : {"8", "16"})
            for (const char* views :
                 {"", ",memory.view_align=16", ",memory.concat_views=off", ",memory.split_views=off",
                  ",memory.in_place=off", ",schedule.order=depth_first", ",memory.plan=first_fit"}) {
                const std::string text = std::string("layout.assign=") + layout + ",layout.block=" + block + views;
                const Route route = Route::parse(text, catalogue().knobs);
                const Plan plan = build(graph, {}, route, target, catalogue()).plan;
                EXPECT_LE(testing::worst_difference(testing::run_engine(plan, target, inputs), want), 2e-5) << text;
            }
}

TEST_P(PartViews, MoveNoMoreThanTheyMust) {
    const Graph graph = parse_graph(GetParam().graph);
    const Route route = Route::parse("layout.assign=plain", catalogue().knobs);
    const Plan plan = build(graph, {}, route, Target::native(), catalogue()).plan;
    EXPECT_EQ(moving_steps(plan), GetParam().moves);
}

INSTANTIATE_TEST_SUITE_P(Graphs, PartViews, ::testing::ValuesIn(cases),
                         [](const auto& info) { return std::string(info.param.name); });

// Channels that fill the blocks of their layout lie side by side; others are copied.
TEST(PartViewsOfBlocks, NeedWholeBlocks) {
    const auto moves = [](const std::string& channels, const std::string& block) {
        const Graph graph = parse_graph("graph {\n  input %x: f32[1," + channels + R"(,6,5]
  %a = MaxPool(%x) {kernel_shape=[2,2]}
  %b = AveragePool(%x) {kernel_shape=[2,2]}
  %c = Concat(%a, %b) {axis=1}
  %y = MaxPool(%c) {kernel_shape=[3,3]}
  output %y
})");
        const Route route = Route::parse("layout.assign=blocked,layout.block=" + block, catalogue().knobs);
        const Plan plan = build(graph, {}, route, Target::native(), catalogue()).plan;
        return std::ranges::count_if(plan.steps, [](const Step& step) { return step.problem.op == "Concat"; });
    };
    EXPECT_EQ(moves("24", "8"), 0);
    EXPECT_EQ(moves("24", "16"), 1);
    EXPECT_EQ(moves("32", "16"), 0);
}

TEST(PartViewsInTheLedger, SayWhyTheBytesMove) {
    const Graph graph = parse_graph(R"(graph {
  input %x: f32[2,6]
  %a = Sin(%x) @"a"
  %b = Softmax(%a) {axis=1} @"b"
  %c = Concat(%a, %b) {axis=1} @"c"
  %d = Concat(%b, %a) {axis=0} @"d"
  %y = Softmax(%c) {axis=1} @"y"
  %z = Softmax(%d) {axis=1} @"z"
  output %y
  output %z
})");
    const std::vector<Decision> ledger = build(graph, {}, Route(), Target::native(), catalogue()).ledger;
    std::vector<std::string> told;
    for (const Decision& decision : ledger)
        if (decision.candidate == "view") told.push_back(decision.site + ": " + decision.verdict.text());
    EXPECT_EQ(told, (std::vector<std::string>{"c: layout: a part is not one piece of memory", "d: yes"}));
}

}  // namespace
}  // namespace headway
