// Graphs of old operator sets after binding: no old form is left, and the interpreter gives the same values.
#include <algorithm>

#include "compile/compile.h"
#include "graph/text.h"
#include "ops/testing.h"

namespace headway {
namespace {

using namespace testing;

Graph bound(const std::string& text) { return bind(parse_graph(text), {}, declared<Op>()); }

void expect_same_after_binding(const std::string& text, const std::vector<Tensor>& inputs, const Shape& shape,
                               const std::vector<double>& want) {
    expect_values(interpret(parse_graph(text), inputs, declared<Op>())[0], shape, want);
    const Graph graph = bound(text);
    for (NodeId id = 0; id < graph.node_count(); ++id) {
        EXPECT_FALSE(graph.node(id).attributes.has("broadcast")) << graph.node(id).op;
        EXPECT_FALSE(graph.node(id).attributes.has("paddings")) << graph.node(id).op;
    }
    expect_values(interpret(graph, inputs, declared<Op>())[0], shape, want);
}

TEST(Modernize, OperandsGetTheShapeThatBroadcasts) {
    const Tensor x = f32({2, 2}, {1, 2, 3, 4});
    expect_same_after_binding(R"(graph {
        input %x: f32[2,2]
        input %y: f32[2]
        %z = Add:6(%x, %y) {broadcast=1, axis=0}
        output %z
    })",
                              {x, f32({2}, {10, 20})}, {2, 2}, {11, 12, 23, 24});
    expect_same_after_binding(R"(graph {
        input %x: f32[2,2]
        const %w: f32[2] = {10,20}
        %z = Mul:6(%x, %w) {broadcast=1, axis=0}
        output %z
    })",
                              {x}, {2, 2}, {10, 20, 60, 80});
    expect_same_after_binding(R"(graph {
        input %x: f32[1,2,2]
        const %w: f32[2] = {10,100}
        %z = PRelu:6(%x, %w)
        output %z
    })",
                              {f32({1, 2, 2}, {-1, 1, -2, -3})}, {1, 2, 2}, {-10, 1, -200, -300});
}

TEST(Modernize, AttributesGetTheirLaterNames) {
    expect_same_after_binding(R"(graph {
        input %x: f32[1,1]
        %z = Concat:1(%x, %x)
        output %z
    })",
                              {f32({1, 1}, {5})}, {1, 2}, {5, 5});
    expect_same_after_binding(R"(graph {
        input %x: f32[1]
        %z = Pad:1(%x) {paddings=[1, 0], value=7.0}
        output %z
    })",
                              {f32({1}, {5})}, {2}, {7, 5});
}

TEST(Modernize, OperandsThatDoNotFitAreRefused) {
    EXPECT_THROW(bound("graph { input %x: f32[2,2] input %y: f32[2] %z = Add:6(%x, %y) output %z }"), UserError);
}

TEST(Bind, RefusesStrings) {
    for (const char* text :
         {"graph { input %x: string[2] %y = Identity(%x) output %y }", "graph { input %x: string[2] output %x }",
          "graph { %y = Constant() {value_string=\"a\"} output %y }",
          "graph { input %x: f32[2] %y = Cast(%x) {to=8} output %y }",
          "graph { input %x: i64[2] %y = ai.onnx.ml/LabelEncoder:4(%x) output %y }"})
        EXPECT_THROW(bound(text), Unsupported) << text;
}

}  // namespace
}  // namespace headway
