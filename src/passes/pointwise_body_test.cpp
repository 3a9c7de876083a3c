#include "passes/pointwise_body.h"

#include <gtest/gtest.h>

#include <cmath>

#include "graph/text.h"

namespace headway {
namespace {

// A body over values of shape [2,3] from the lines between its inputs and its output.
Graph body(const std::string& inputs, const std::string& lines, const std::string& outputs) {
    return parse_graph("graph {\n" + inputs + lines + outputs + "}");
}

std::string program_text(const Graph& graph) {
    Verdict why;
    const auto found = program_of(graph, &why);
    return found ? found->program.text() : why.text();
}

const std::string x = "input %x: f32[2,3]\n";
const std::string y = "output %y\n";

TEST(PointwiseBody, NumbersNeedNoRegister) {
    const Graph graph = body(x, R"(
        const %c: f32[] = {3}
        const %d: f32[1,1] = {2}
        %a: f32[2,3] = Mul(%c, %x)
        %b: f32[2,3] = Add(%a, %d)
        %y: f32[2,3] = Sub(%d, %b)
    )",
                             y);
    const auto found = program_of(graph);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->anchor, no_node);
    EXPECT_EQ(found->program.operands, 1);
    EXPECT_EQ(found->program.code.size(), 3U);
    const double operand = 5;
    double result = 0;
    evaluate(found->program, 0, &operand, &result);
    EXPECT_EQ(result, 2 - (3 * 5 + 2));
}

TEST(PointwiseBody, RecognisesSilu) {
    const Graph graph = body(x, R"(
        %s: f32[2,3] = Sigmoid(%x)
        %y: f32[2,3] = Mul(%s, %x)
    )",
                             y);
    const auto found = program_of(graph);
    ASSERT_TRUE(found);
    ASSERT_EQ(found->program.code.size(), 2U);
    EXPECT_EQ(found->program.code[1].op, Opcode::silu);
}

TEST(PointwiseBody, StartsWithTheAnchorInRegisterZero) {
    const Graph graph = body(x + "input %r: f32[2,4]\nconst %w: f32[3,4] = random(1)\n", R"(
        %p: f32[2,4] = MatMul(%x, %w)
        %a: f32[2,4] = Add(%p, %r)
        %y: f32[2,4] = Relu(%a)
    )",
                             y);
    const auto found = program_of(graph);
    ASSERT_TRUE(found);
    EXPECT_EQ(graph.node(found->anchor).op, "MatMul");
    ASSERT_EQ(found->operands.size(), 1U);
    EXPECT_EQ(graph.value(found->operands[0]).name, "r");
    const double operand = -5;
    double result = 0;
    evaluate(found->program, 3, &operand, &result);
    EXPECT_EQ(result, 0);
    evaluate(found->program, 7, &operand, &result);
    EXPECT_EQ(result, 2);
}

TEST(PointwiseBody, RefusesASecondAnchorAndOtherShapes) {
    EXPECT_NE(program_text(body(x + "const %w: f32[3,3] = random(1)\n", R"(
        %p: f32[2,3] = MatMul(%x, %w)
        %y: f32[2,3] = MatMul(%p, %w)
    )",
                                y))
                  .find("operator"),
              std::string::npos);
    EXPECT_NE(program_text(body(x + "input %s: f32[3]\n", R"(
        %t: f32[3] = Tanh(%s)
        %y: f32[2,3] = Add(%x, %t)
    )",
                                y))
                  .find("shape"),
              std::string::npos);
    EXPECT_NE(program_text(body(x + "const %w: f32[3,3] = random(1)\n", R"(
        %t: f32[2,3] = Tanh(%x)
        %y: f32[2,3] = MatMul(%t, %w)
    )",
                                y))
                  .find("shape"),
              std::string::npos);
}

TEST(PointwiseBody, RefusesMoreLiveValuesThanRegisters) {
    std::string inputs, lines;
    for (int i = 0; i <= Program::max_registers; ++i) {
        const std::string k = std::to_string(i);
        inputs += "input %x" + k + ": f32[2]\n";
        lines += "%v" + k + ": f32[2] = Tanh(%x" + k + ")\n";
    }
    lines += "%s0: f32[2] = Mul(%v0, %v1)\n";
    for (int i = 1; i < Program::max_registers; ++i)
        lines += "%s" + std::to_string(i) + ": f32[2] = Mul(%s" + std::to_string(i - 1) + ", %v" +
                 std::to_string(i + 1) + ")\n";
    const std::string last = "output %s" + std::to_string(Program::max_registers - 1) + "\n";
    EXPECT_NE(program_text(body(inputs, lines, last)).find("limit"), std::string::npos);
}

TEST(PointwiseBody, ReusesRegistersOfDeadValues) {
    std::string lines = "%s0: f32[2,3] = Tanh(%x)\n";
    for (int i = 1; i <= 40; ++i)
        lines += "%s" + std::to_string(i) + ": f32[2,3] = Mul(%s" + std::to_string(i - 1) + ", %x)\n";
    const auto found = program_of(body(x, lines, "output %s40\n"));
    ASSERT_TRUE(found);
    EXPECT_LE(found->program.registers, 2);
    const double operand = 0.5;
    double result = 0;
    evaluate(found->program, 0, &operand, &result);
    EXPECT_DOUBLE_EQ(result, std::tanh(0.5) * std::pow(0.5, 40));
}

TEST(PointwiseBody, GivesSeveralResultsInTheOrderOfTheOutputs) {
    const auto found = program_of(body(x, R"(
        %a: f32[2,3] = Neg(%x)
        %y: f32[2,3] = Exp(%a)
    )",
                                       "output %y\noutput %a\n"));
    ASSERT_TRUE(found);
    const double operand = 2;
    double results[2] = {};
    evaluate(found->program, 0, &operand, results);
    EXPECT_DOUBLE_EQ(results[0], std::exp(-2));
    EXPECT_EQ(results[1], -2);
}

TEST(PointwiseBody, DividesByPowersOfTwoOnlyByMultiplying) {
    const std::string four = program_text(body(x, "const %c: f32[] = {4}\n%y: f32[2,3] = Div(%x, %c)\n", y));
    EXPECT_NE(four.find("mul_add"), std::string::npos) << four;
    const std::string three = program_text(body(x, "const %c: f32[] = {3}\n%y: f32[2,3] = Div(%x, %c)\n", y));
    EXPECT_NE(three.find("div"), std::string::npos) << three;
}

TEST(PointwiseBody, LeavesConstantsInTheBodyAndRunTimeValuesOutside) {
    const Graph graph = parse_graph(R"(graph {
        input %x: f32[2,3]
        input %r: f32[2,3]
        const %c: f32[3] = {1,2,3}
        %a: f32[2,3] = Mul(%x, %c)
        %b: f32[2,3] = Add(%a, %r)
        %y: f32[2,3] = Add(%b, %x)
        output %y
    })");
    std::vector<ValueId> inputs;
    const Graph made = body_of(graph, {0, 1, 2}, {graph.outputs[0]}, inputs);
    EXPECT_EQ(inputs, (std::vector<ValueId>{graph.find_value("x"), graph.find_value("r")}));
    EXPECT_EQ(made.inputs.size(), 2U);
    EXPECT_TRUE(made.is_constant(made.find_value("c")));
    EXPECT_EQ(program_of(made)->operands.size(), 3U);
}

}  // namespace
}  // namespace headway
