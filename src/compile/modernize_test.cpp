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
        for (const char* old : {"broadcast", "paddings", "spatial", "height_scale"})
            EXPECT_FALSE(graph.node(id).attributes.has(old)) << graph.node(id).op;
        EXPECT_GT(graph.node(id).version, 1) << graph.node(id).op;
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

TEST(Modernize, DefaultsThatLaterChangedAreSpelledOut) {
    const Graph graph = bound("graph { input %x: f32[1] %z = Selu:1(%x) output %z }");
    EXPECT_EQ(graph.node(0).version, 6);
    expect_values(interpret(graph, std::vector<Tensor>{f32({1}, {1})}, declared<Op>())[0], {1}, {1.0507}, 1e-7);
}

TEST(Modernize, OperandsStandWhereLaterVersionsHaveThem) {
    expect_same_after_binding(R"(graph {
        input %x: f32[1,3]
        const %lengths: f32[2] = {1,2}
        %a, %z = Split:1(%x, %lengths) {axis=1}
        output %z
    })",
                              {f32({1, 3}, {5, 6, 7})}, {1, 2}, {6, 7});
    expect_same_after_binding(R"(graph {
        input %x: f32[1,2]
        const %tiles: f32[1] = {2}
        const %axis: f32[1] = {1}
        %z = Tile:1(%x, %tiles, %axis)
        output %z
    })",
                              {f32({1, 2}, {5, 6})}, {1, 4}, {5, 6, 5, 6});
    expect_same_after_binding(R"(graph {
        input %x: f32[2]
        %y = Cast:1(%x) {to="INT64"}
        %z = Cast:1(%y) {to="FLOAT"}
        output %z
    })",
                              {f32({2}, {5.5, -6.5})}, {2}, {5, -6});
    expect_same_after_binding(R"(graph {
        input %x: f32[1,1,1,2]
        %z = Upsample:1(%x) {height_scale=1.0, width_scale=2.0, mode="bilinear"}
        output %z
    })",
                              {f32({1, 1, 1, 2}, {5, 7})}, {1, 1, 1, 4}, {5, 6, 7, 7});
    EXPECT_THROW(bound("graph { input %x: f32[2] %z = Cast:1(%x) {to=\"NONE\"} output %z }"), Unsupported);
    EXPECT_THROW(
        bound("graph { input %x: f32[2] input %n: f32[1] const %a: f32[1] = {0} %z = Tile:1(%x, %n, %a) output %z }"),
        Unsupported)
        << "its tiles are not known";
}

TEST(Modernize, StatisticsAreThoseOfChannels) {
    expect_same_after_binding(R"(graph {
        input %x: f32[2,2,2]
        const %scale: f32[2,2] = {1,2,3,4}
        const %bias: f32[2,2] = {10,20,30,40}
        const %mean: f32[2,2] = {1,0,1,0}
        input %variance: f32[2,2]
        %z = BatchNormalization:7(%x, %scale, %bias, %mean, %variance) {spatial=0, epsilon=0.0}
        output %z
    })",
                              {f32({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}), f32({2, 2}, {1, 1, 4, 4})}, {2, 2, 2},
                              {10, 24, 33, 48, 14, 32, 39, 56});
    expect_same_after_binding(R"(graph {
        input %x: f32[1,2]
        const %one: f32[2] = {1,1}
        const %two: f32[2] = {2,2}
        %z = BatchNormalization:6(%x, %two, %one, %one, %one) {spatial=0, is_test=1, epsilon=0.0}
        output %z
    })",
                              {f32({1, 2}, {3, 4})}, {1, 2}, {5, 7});
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
