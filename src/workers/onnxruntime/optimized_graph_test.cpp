// What counts when two optimised graphs are compared: operators, wiring, attributes, constants; not names, not the
// order of independent nodes.
#include "workers/onnxruntime/optimized_graph.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/file.h"
#include "base/temporary.h"
#include "graph/text.h"
#include "onnx/export.h"

namespace headway::ort {
namespace {

constexpr const char* plain = R"(graph {
  input %x: f32[2,64]
  const %c: f32[64] = random(1)
  const %axes: i64[1] = {0}
  %a = Mul(%x, %c) @"a"
  %b = Add(%x, %c) @"b"
  %u = Unsqueeze(%a, %axes) @"u"
  %s = Softmax(%b) {axis=1} @"s"
  %y = Add(%u, %s) @"y"
  output %y
})";

OptimizedGraph read(const std::string& text) {
    const TemporaryFolder folder;
    write_file_atomically(folder.path() + "/graph.onnx", export_onnx(parse_graph(text)));
    return read_optimized_graph(folder.path() + "/graph.onnx");
}

std::string with(std::string text, const std::string& from, const std::string& to) {
    for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
        text.replace(at, from.size(), to);
    return text;
}

void expect_same(const OptimizedGraph& a, const OptimizedGraph& b) {
    EXPECT_EQ(a.content, b.content);
    EXPECT_EQ(a.structure, b.structure);
}

TEST(OptimizedGraph, NamesAndTheOrderOfIndependentNodesDoNotCount) {
    expect_same(read(plain), read(with(with(plain, "%a", "%other"), "@\"b\"", "@\"renamed\"")));
    const std::string first = "  %a = Mul(%x, %c) @\"a\"\n", second = "  %b = Add(%x, %c) @\"b\"\n";
    expect_same(read(plain), read(with(plain, first + second, second + first)));
}

TEST(OptimizedGraph, OperatorsWiringAttributesAndShapesCount) {
    for (const auto& [from, to] : std::map<std::string, std::string>{{"Mul(", "Div("},
                                                                     {"Mul(%x, %c)", "Mul(%c, %x)"},
                                                                     {"Add(%u, %s)", "Add(%s, %u)"},
                                                                     {"{axis=1}", "{axis=0}"},
                                                                     {"x: f32[2,64]", "x: f32[3,64]"},
                                                                     {"axes: i64[1] = {0}", "axes: i64[1] = {1}"}}) {
        const OptimizedGraph other = read(with(plain, from, to));
        EXPECT_NE(read(plain).content, other.content) << from;
        EXPECT_NE(read(plain).structure, other.structure) << from;
    }
}

TEST(OptimizedGraph, LargeConstantsCountInTheContentOnly) {
    const OptimizedGraph other = read(with(plain, "random(1)", "random(2)"));
    EXPECT_NE(read(plain).content, other.content);
    EXPECT_EQ(read(plain).structure, other.structure);
}

TEST(OptimizedGraph, NodesOfSubGraphsAreReadToo) {
    constexpr const char* branches = R"(graph {
  input %p: bool[]
  input %x: f32[2]
  %y = If(%p) {then_branch=graph {
    %t = Relu(%x)
    output %t
  }, else_branch=graph {
    %e = Neg(%x)
    output %e
  }}
  output %y
})";
    const OptimizedGraph graph = read(branches);
    EXPECT_EQ(graph.operators, (std::map<std::string, int64_t>{{"If", 1}, {"Neg", 1}, {"Relu", 1}}));
    EXPECT_NE(graph.content, read(with(branches, "Neg", "Abs")).content);
}

TEST(OptimizedGraph, OtherFilesAreRefused) {
    const TemporaryFolder folder;
    for (const char* text : {"", "rubbish", "\x3a\x7f"}) {
        write_file_atomically(folder.path() + "/graph.onnx", std::string_view(text));
        EXPECT_THROW(read_optimized_graph(folder.path() + "/graph.onnx"), UserError) << text;
    }
}

}  // namespace
}  // namespace headway::ort
