// Optional outputs that the model leaves out: the engine gives what the interpreter gives for the others.
#include <gtest/gtest.h>

#include "support/graph_engine.h"

namespace headway {
namespace {

using testing::catalogue;

void expect_as_interpreted(const Graph& graph) {
    const std::vector<Tensor> inputs = testing::random_inputs(graph);
    const Target target = Target::native();
    const std::vector<Tensor> got =
        testing::run_engine(build(graph, {}, Route(), target, catalogue()).plan, target, inputs);
    EXPECT_LE(testing::worst_difference(got, interpret(graph, inputs, catalogue().ops)), 2e-5);
}

class UnusedOutput : public ::testing::TestWithParam<const char*> {};

TEST_P(UnusedOutput, LeavesTheOthersRight) { expect_as_interpreted(parse_graph(GetParam())); }

// A copy of the input is not all that Dropout gives.
TEST(Dropout, GivesAMaskOfItsInputsType) {
    expect_as_interpreted(parse_graph(R"(graph {
  input %x: f32[2,3]
  %y, %mask = Dropout:7(%x) {ratio=0.5}
  output %y
  output %mask
})"));
}

TEST(Dropout, IsNoCopyWhenItTrains) {
    expect_as_interpreted(parse_graph(R"(graph {
  input %x: f32[4,8]
  const %ratio: f32[] = {0.5}
  const %training: bool[] = {1}
  %y = Dropout:13(%x, %ratio, %training) {seed=5}
  output %y
})"));
}

INSTANTIATE_TEST_SUITE_P(Operators, UnusedOutput,
                         ::testing::Values(R"(graph {
  input %x: f32[3,2,4]
  const %w: f32[1,15,4] = random(1)
  const %r: f32[1,15,5] = random(2)
  _, %h = GRU(%x, %w, %r) {hidden_size=5}
  output %h
})",
                                           R"(graph {
  input %x: f32[3,2,4]
  const %w: f32[1,20,4] = random(1)
  const %r: f32[1,20,5] = random(2)
  _, _, %c = LSTM(%x, %w, %r) {hidden_size=5}
  output %c
})",
                                           R"(graph {
  input %x: f32[3,2,4]
  const %w: f32[1,20,4] = random(1)
  const %r: f32[1,20,5] = random(2)
  const %peep: f32[1,15] = random(3)
  _, %h = LSTM(%x, %w, %r, _, _, _, _, %peep) {hidden_size=5}
  output %h
})",
                                           R"(graph {
  input %x: f32[2,6]
  _, %b = Split(%x) {axis=1}
  output %b
})",
                                           R"(graph {
  input %q: f32[1,2,3,4]
  input %k: f32[1,2,5,4]
  input %v: f32[1,2,5,4]
  %y, _, _, %p = Attention:23(%q, %k, %v)
  output %y
  output %p
})"));

}  // namespace
}  // namespace headway
