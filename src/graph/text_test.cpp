#include "graph/text.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "graph/limits.h"
#include "graph/verify.h"

namespace headway {
namespace {

std::string error_of(std::string_view text) {
    try {
        parse_graph(text);
    } catch (const UserError& error) {
        return error.what();
    }
    return "";
}

std::string round_trip(std::string_view text) {
    constexpr int64_t everything = int64_t{1} << 40;
    const std::string once = print_graph(parse_graph(text), everything);
    EXPECT_EQ(once, print_graph(parse_graph(once), everything));
    return once;
}

TEST(GraphText, ReadsTheDocumentedExample) {
    const Graph graph = parse_graph(R"(
        graph {
          input %x: f32[1,3,8,8]
          const %w: f32[16,3,3,3] = random(7)      # a comment
          const %two: f32[] = {2}
          const %zeros: f32[16] = fill(0)
          %y: f32[1,16,8,8] = Conv(%x, %w, _) {pads=[1,1,1,1], group=1} @"conv1"
          %a, %b = Split(%y) {axis=1} @"split","more"
          %z = Group(%a, %b) { graph {
              input %p
              input %q
              %r = Add(%p, %q)
              output %r
          } } @"add"
          output %z
        })");
    verify_graph(graph, Stage::imported);
    ASSERT_EQ(graph.node_count(), 3);
    const Node& conv = graph.node(0);
    EXPECT_EQ(conv.op, "Conv");
    EXPECT_EQ(conv.version, default_opset);
    EXPECT_EQ(conv.inputs, (std::vector<ValueId>{0, 1, no_value}));
    EXPECT_EQ(conv.attributes.integers("pads"), (std::vector<int64_t>{1, 1, 1, 1}));
    EXPECT_EQ(conv.attributes.integer("group", 0), 1);
    EXPECT_EQ(graph.node(1).origins, (std::vector<std::string>{"split", "more"}));
    EXPECT_EQ(graph.node(2).body->node(0).origins[0], "add/Add#0");
    EXPECT_EQ(graph.value(2).constant->at(0), 2);
    // deviation 1/sqrt(27)
    double squares = 0;
    for (float value : graph.value(1).constant->data<float>()) squares += double{value} * value;
    EXPECT_NEAR(squares / 432, 1.0 / 27, 0.01);
}

TEST(GraphText, PrintsEveryAttributeKindBack) {
    const std::string text = round_trip(R"(graph {
        %y = com.microsoft/Odd:3() {i=-5, f=1.0, tiny=1e-45, inf=-inf, s="a\x22b", none=[], is=[1, 2], fs=[1.0, 2],
            nofs=floats[], ss=["x", ""], noss=strings[], t=i64[2] {1,-9223372036854775808}, "odd name"=f32[] {0.1},
            empty=f32[0,3] {}, texts=string[2,1] {"a,\x22","}"}, notexts=string[0] {}}
        _, %"# 1" = Op(%y)
        = Sink(%y)
        output %"# 1"
    })");
    const Graph graph = parse_graph(text);
    const Attributes& attributes = graph.node(0).attributes;
    EXPECT_EQ(graph.node(0).domain, "com.microsoft");
    EXPECT_EQ(graph.node(0).version, 3);
    EXPECT_EQ(attributes.integer("i", 0), -5);
    EXPECT_EQ(attributes.real("tiny", 0), 1e-45F);
    EXPECT_EQ(attributes.text("s", ""), "a\"b");
    EXPECT_EQ(attributes.reals("fs"), (std::vector<float>{1, 2}));
    EXPECT_TRUE(std::holds_alternative<std::vector<float>>(*attributes.find("nofs")));
    EXPECT_TRUE(std::holds_alternative<std::vector<std::string>>(*attributes.find("noss")));
    EXPECT_EQ(attributes.tensor("t")->data<int64_t>()[1], INT64_MIN);
    EXPECT_EQ(attributes.tensor("empty")->shape(), (Shape{0, 3}));
    EXPECT_EQ(*attributes.strings("texts"), (Strings{Shape{2, 1}, {"a,\"", "}"}}));
    EXPECT_EQ(attributes.strings("notexts")->shape, Shape{0});
    EXPECT_EQ(graph.node(1).outputs[0], no_value);
    EXPECT_EQ(graph.node(1).origins[0], "Op#0");
}

TEST(GraphText, KeepsSymbolsUnknownRanksAndVersions) {
    const std::string text = round_trip(R"(graph {
        input %x: f32[batch,?,3,"a b","7up"]
        input %"name:": i64
        input %u: undefined[2]
        %y:0: bf16[1] = Softmax:9(%x)
        output %y:0
        output %x
    })");
    const Graph graph = parse_graph(text);
    EXPECT_EQ(graph.value(0).dims->at(0).symbol, "batch");
    EXPECT_EQ(graph.value(0).dims->at(1).symbol, "?");
    EXPECT_EQ(graph.value(0).dims->at(4).symbol, "7up");
    EXPECT_FALSE(graph.value(1).dims.has_value());
    EXPECT_EQ(graph.value(1).name, "name:");
    EXPECT_EQ(graph.node(0).version, 9);
    EXPECT_EQ(graph.value(3).name, "y:0");
    EXPECT_EQ(graph.value(3).type, ElementType::bf16);
}

TEST(GraphText, ConstantsOfEveryTypeAreExact) {
    const Graph graph = parse_graph(round_trip(R"(graph {
        const %a: f64[2] = {0.1,1e300}
        const %b: f16[2] = {0.333251953125,-inf}
        const %c: bf16[1] = {3.140625}
        const %d: u64[1] = {18446744073709551615}
        const %e: bool[2] = {1,0}
        const %f: i8[2] = {-128,127}
        const %g: f32[2] = {nan,-0}
        const %h: u8[3] = fill(255)
        const %i: f8e4m3fn[3] = {448,-0.5,nan}
        const %j: i4[3] = fill(-8)
        const %k: f8e8m0[1] = {0.25}
    })"));
    EXPECT_EQ(graph.value(0).constant->at(0), 0.1);
    EXPECT_EQ(graph.value(1).constant->half_bits()[0], 0x3555);
    EXPECT_EQ(graph.value(3).constant->data<uint64_t>()[0], UINT64_MAX);
    EXPECT_EQ(graph.value(5).constant->at(0), -128);
    EXPECT_TRUE(std::isnan(graph.value(6).constant->at(0)));
    EXPECT_TRUE(std::signbit(graph.value(6).constant->at(1)));
    EXPECT_EQ(graph.value(7).constant->at(2), 255);
    EXPECT_EQ(graph.value(8).constant->at(0), 448);
    EXPECT_EQ(graph.value(9).constant->at(2), -8);
    EXPECT_EQ(graph.value(10).constant->at(0), 0.25);
}

TEST(GraphText, KindsStandBeforeTheType) {
    const Graph graph = parse_graph(round_trip(R"(graph {
        input %s: sequence f32
        input %o: optional i64
        %y: sequence f32 = Identity(%s)
        output %y
    })"));
    EXPECT_EQ(graph.value(graph.inputs[0]).kind, DeclaredKind::sequence);
    EXPECT_EQ(graph.value(graph.inputs[1]).kind, DeclaredKind::optional);
    EXPECT_EQ(graph.value(graph.inputs[1]).type, ElementType::i64);
    EXPECT_EQ(graph.value(graph.outputs[0]).kind, DeclaredKind::sequence);
}

TEST(GraphText, SubgraphsCaptureOuterNames) {
    const Graph graph = parse_graph(round_trip(R"(graph {
        input %c: bool[]
        input %x: f32[2]
        const %k: f32[2] = {1,2}
        %y = If(%c) {then_branch=graph {
                %t = Add(%x, %k)
                output %t
            }, else_branch=graph {
                %e = If(%c) {then_branch=graph { output %x }, else_branch=graph { %n = Neg(%x) output %n }}
                output %e
            }} @"choose"
        output %y
    })"));
    verify_graph(graph, Stage::imported);
    const Node& node = graph.node(0);
    ASSERT_EQ(node.subgraphs.size(), 2U);
    EXPECT_EQ(node.subgraphs[0].graph->node(0).origins[0], "choose/then_branch/Add#0");
    EXPECT_EQ(node.subgraphs[0].graph->value(0).name, "x");
    EXPECT_EQ(node.subgraphs[0].graph->value(0).type, ElementType::f32);
    EXPECT_FALSE(node.subgraphs[0].graph->is_constant(1));
    const Graph& inner = *node.subgraphs[1].graph->node(0).subgraphs[1].graph;
    EXPECT_EQ(inner.node(0).origins[0], "choose/else_branch/If#0/else_branch/Neg#0");
}

TEST(GraphText, LargeConstantsPrintAsHashAndSaySo) {
    const Graph graph = parse_graph("graph { const %w: f32[65] = random(1) }");
    const std::string text = print_graph(graph);
    EXPECT_NE(text.find("= hash("), std::string::npos);
    EXPECT_NE(error_of(text).find("too large to print"), std::string::npos);
}

TEST(GraphText, ErrorsNameLineAndColumn) {
    EXPECT_EQ(error_of("graph {\n  output %x\n}"), "graph text 2:10: %x is not defined above");
    EXPECT_EQ(error_of("graph {\n  input %x: f33[1]\n}"), "graph text 2:13: unknown element type f33");
    EXPECT_EQ(error_of("graph { input %x input %x }"), "graph text 1:24: %x is defined twice");
    EXPECT_EQ(error_of("graph { %y = Add(%y) }"), "graph text 1:18: %y is not defined above");
    EXPECT_EQ(error_of("graph { const %c: u8[1] = {256} }"), "graph text 1:28: 256 is not a value of type u8");
    EXPECT_EQ(error_of("graph { const %c: i32[2] = {1} }"), "graph text 1:28: 1 values for shape 2");
    EXPECT_EQ(error_of("graph { %y = F() {a=string[2] {\"x\"}} }"), "graph text 1:31: 1 strings for shape 2");
    EXPECT_EQ(error_of("graph { const %c: string[1] = {\"x\"} }"), "graph text 1:32: expected a number");
    EXPECT_EQ(error_of("graph { %y = F() {a=[1, \"x\"]} }"), "graph text 1:25: text and numbers in one list");
    EXPECT_EQ(error_of("graph { %y = Group() }"), "graph text 1:22: a Group, and only a Group, has a body");
    EXPECT_EQ(error_of("graph { input %\"x }"), "graph text 1:16: string without an end");
    EXPECT_EQ(error_of(""), "graph text 1:1: expected 'graph {'");
    EXPECT_EQ(error_of("graph { } x"), "graph text 1:11: text after the graph");
    EXPECT_EQ(error_of("graph { %y = F() {a=9999999999999999999} }"),
              "graph text 1:21: 9999999999999999999 is not an integer");
}

TEST(GraphText, NeitherSizeNorDepthCanBeAbused) {
    EXPECT_NE(error_of("graph { const %w: f32[99999999,99999999] = fill(0) }").find("too large"), std::string::npos);
    EXPECT_NE(error_of("graph { const %w: f32[9999999999,9999999999,99] = random(0) }").find("too large"),
              std::string::npos);
    EXPECT_NE(error_of("graph { const %a: f32[40000000] = fill(0) const %b: f32[40000000] = {} }").find("too large"),
              std::string::npos);
    std::string deep;
    for (int i = 0; i < 100000; ++i) deep += "graph { %y = If() {b=";
    EXPECT_NE(error_of(deep).find("nested too deeply"), std::string::npos);
}

TEST(GraphText, EveryTruncationIsAnError) {
    const std::string text = print_graph(parse_graph(R"(graph {
        input %x: f32[batch,2]
        const %k: f32[2] = {1,2}
        %"odd \x01", _ = Add:7(%x, %k, _) {a=[1,2], b="s", g=graph { %n = Neg(%x) output %n }} @"a","b"
        %z = Group(%k) {graph { input %i: f32[2] output %i }} @"g"
        output %z
    })"));
    for (size_t size = 0; size + 2 < text.size(); ++size) EXPECT_NE(error_of(text.substr(0, size)), "") << size;
}

}  // namespace
}  // namespace headway
