// FlexAttention with graphs that change its scores and probabilities, by hand-computed values.
#include "graph/text.h"
#include "ops/testing.h"

namespace headway {
namespace {

using namespace testing;

// Queries of zeros: all scores are 0 before score_mod. Two queries, two keys with the values 10 and 30.
Tensor flex(const std::string& modifiers, ElementType type = ElementType::f32) {
    const std::vector<Tensor> inputs{of_type(type, {1, 1, 2, 1}, {0, 0}), of_type(type, {1, 1, 2, 1}, {1, 2}),
                                     of_type(type, {1, 1, 2, 1}, {10, 30})};
    const Graph graph =
        parse_graph("graph { input %q input %k input %v %y = ai.onnx.preview/FlexAttention:1(%q, %k, %v) {" +
                    modifiers + "} output %y }");
    return interpret(graph, inputs, declared<Op>())[0];
}

// Of the second query the first key weighs three times the other; the first query sees the first key alone.
const std::string score_mod = R"(score_mod=graph {
    input %s
    const %bias: f32[2,2] = {0,-inf,1.0986123,0}
    %out = Add:14(%s, %bias)
    output %out
})";
const std::string prob_mod = R"(prob_mod=graph {
    input %p
    const %two: f32[] = {2}
    %out = Mul:14(%p, %two)
    output %out
})";

TEST(FlexAttention, GraphsChangeScoresAndProbabilities) {
    expect_values(flex(""), {1, 1, 2, 1}, {20, 20});
    expect_values(flex(score_mod), {1, 1, 2, 1}, {10, 15});
    expect_values(flex(prob_mod), {1, 1, 2, 1}, {40, 40});
    expect_values(flex(score_mod + ", " + prob_mod), {1, 1, 2, 1}, {20, 30});
}

TEST(FlexAttention, GraphsSeeTheWiderTypeOfTheSoftmax) {
    const Tensor y = flex(score_mod, ElementType::f16);
    EXPECT_EQ(y.type(), ElementType::f16);
    expect_values(y, {1, 1, 2, 1}, {10, 15}, 1e-3);
    EXPECT_THROW(flex(score_mod, ElementType::f64), UserError) << "scores of f64 and a bias of f32";
}

TEST(FlexAttention, GraphsKeepShapeAndType) {
    EXPECT_THROW(flex("score_mod=graph { input %s %out = ReduceSum:13(%s) output %out }"), UserError);
    EXPECT_THROW(flex("score_mod=graph { input %s %out = Cast:13(%s) {to=11} output %out }"), UserError);
    EXPECT_THROW(flex("score_mod=graph { input %s output %s output %s }"), UserError);
}

}  // namespace
}  // namespace headway
