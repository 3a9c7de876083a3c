// Indices that come as data are checked wherever they are read: in constant folding, in the kernels of an engine and
// in the interpreter (rule 7 of docs/design/0012-untrusted-input.md). Among them peers' failures: a negative index of
// ArrayFeatureExtractor read memory before the table (ONNX Runtime #27265), Col2Im wrote outside its image (#28706).
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "compile/compile.h"
#include "graph/text.h"
#include "ops/op.h"
#include "runtime/engine.h"

namespace headway {
namespace {

constexpr int64_t lowest = std::numeric_limits<int64_t>::min(), highest = std::numeric_limits<int64_t>::max();

struct IndexCase {
    const char* name;
    const char* type;      // of the indices, with their shape
    std::string operands;  // lines that declare %x and others
    std::string node;      // reads %i
    std::vector<int64_t> good, bad;
};

void PrintTo(const IndexCase& test, std::ostream* out) { *out << test.name; }

std::vector<int64_t> outside(int64_t extent, bool counts_from_the_end) {
    std::vector<int64_t> bad{extent, extent + 1, int64_t{1} << 31, int64_t{1} << 32, int64_t{1} << 62, highest, lowest};
    bad.push_back(counts_from_the_end ? -extent - 1 : -1);
    bad.push_back(-(int64_t{1} << 32));
    return bad;
}

std::vector<IndexCase> cases() {
    const std::string vector = " CONST %x: f32[4] = {1,2,3,4}\n";
    const std::string rows = " CONST %x: f32[4,2] = {1,2,3,4,5,6,7,8}\n";
    const std::string one = " CONST %u: f32[1] = {9}\n";
    return {
        {"Gather", "i64[1]", vector, "Gather:13(%x, %i)", {0, 3, -1, -4}, outside(4, true)},
        {"GatherRows", "i64[1]", rows, "Gather:13(%x, %i) {axis=0}", {0, 3, -4}, outside(4, true)},
        {"GatherInner", "i64[1]", rows, "Gather:13(%x, %i) {axis=1}", {0, 1, -2}, outside(2, true)},
        {"GatherBytes", "i64[1]", " CONST %x: u8[4] = {1,2,3,4}\n", "Gather:13(%x, %i)", {0, 3, -4}, outside(4, true)},
        {"GatherOfNothing", "i64[1]", " CONST %x: f32[0] = {}\n", "Gather:13(%x, %i)", {}, outside(0, true)},
        {"GatherElements", "i64[1]", vector, "GatherElements:13(%x, %i)", {0, 3, -4}, outside(4, true)},
        {"GatherND", "i64[1,1]", rows, "GatherND:13(%x, %i)", {0, 3, -4}, outside(4, true)},
        {"ScatterElements", "i64[1]", vector + one, "ScatterElements:18(%x, %i, %u)", {0, 3, -4}, outside(4, true)},
        {"ScatterElementsAdd",
         "i64[1]",
         vector + one,
         "ScatterElements:18(%x, %i, %u) {reduction=\"add\"}",
         {0, -4},
         outside(4, true)},
        {"ScatterND", "i64[1,1]", vector + one, "ScatterND:18(%x, %i, %u)", {0, 3, -4}, outside(4, true)},
        {"ArrayFeatureExtractor",
         "i64[1]",
         vector,
         "ai.onnx.ml/ArrayFeatureExtractor:1(%x, %i)",
         {0, 3},
         outside(4, false)},
        {"MaxUnpool",
         "i64[1,1,1,1]",
         " CONST %x: f32[1,1,1,1] = {5}\n",
         "MaxUnpool:11(%x, %i) {kernel_shape=[2,2], strides=[2,2]}",
         {0, 3},
         outside(4, false)},
        {"ReverseSequence",
         "i64[1]",
         " CONST %x: f32[4,1] = {1,2,3,4}\n",
         "ReverseSequence:10(%x, %i)",
         {1, 4},
         outside(5, false)},
        {"TensorScatter",
         "i64[1]",
         " CONST %x: f32[1,4,2] = {1,2,3,4,5,6,7,8}\n CONST %u: f32[1,1,2] = {8,9}\n",
         "TensorScatter:24(%x, %u, %i) {axis=1}",
         {0, 3},
         outside(4, false)},
        {"RoiAlign",
         "i64[1]",
         " CONST %x: f32[1,1,2,2] = {1,2,3,4}\n CONST %r: f32[1,4] = {0,0,1,1}\n",
         "RoiAlign:16(%x, %r, %i)",
         {0},
         outside(1, false)},
        {"CumSum", "i64[]", vector, "CumSum:14(%x, %i)", {0, -1}, outside(1, true)},
        {"LossTarget",
         "i64[1]",
         " CONST %x: f32[1,3] = {1,2,3}\n",
         "NegativeLogLikelihoodLoss:13(%x, %i)",
         {0, 2},
         outside(3, false)},
        {"RotaryPositions",
         "i64[1,1]",
         " CONST %x: f32[1,1,1,4] = {1,2,3,4}\n CONST %c: f32[3,2] = {1,2,3,4,5,6}\n CONST %s: f32[3,2] = "
         "{1,2,3,4,5,6}\n",
         "RotaryEmbedding:23(%x, %c, %s, %i)",
         {0, 2},
         outside(3, true)},
        {"TopK", "i64[1]", vector, "TopK:11(%x, %i)", {1, 4}, outside(5, false)},
    };
}

// Where the operands come from.
enum class Way { folded, kernel, interpreter };

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
        text.replace(at, from.size(), to);
    return text;
}

void run(const IndexCase& test, int64_t index, Way way) {
    static const Catalogue catalogue;
    const bool is_fed = way == Way::kernel;
    std::string text = "graph {\n" + replaced(test.operands, "CONST", "const");
    text += is_fed ? std::string(" input %i: ") + test.type + "\n"
                   : std::string(" const %i: ") + test.type + " = {" + std::to_string(index) + "}\n";
    text += " input %unused: f32[1]\n %y = " + test.node + "\n output %y\n}";
    const Graph graph = parse_graph(text);
    std::vector<Tensor> inputs;
    if (is_fed) {
        const Shape shape = graph.value(graph.inputs[0]).shape();
        inputs.push_back(Tensor::of<int64_t>(shape, std::vector<int64_t>{index}));
    }
    inputs.emplace_back(ElementType::f32, Shape{1});
    if (way == Way::interpreter) {
        interpret(graph, inputs, catalogue.ops);
        return;
    }
    Target target = Target::native();
    target.threads = 1;
    EngineInfo info;
    info.target = target.text();
    Build built = build(graph, {}, Route(), target, catalogue);
    Context(Engine::make(std::move(built.plan), info, catalogue.kernels)).run(inputs);
}

class Index : public testing::TestWithParam<IndexCase> {};

TEST_P(Index, IsCheckedWhereverItIsRead) {
    for (const Way way : {Way::folded, Way::kernel, Way::interpreter}) {
        SCOPED_TRACE(static_cast<int>(way));
        bool is_built = true;
        for (const int64_t index : GetParam().good) {
            try {
                run(GetParam(), index, way);
            } catch (const Unsupported&) {  // a shape that depends on fed indices
                EXPECT_EQ(way, Way::kernel);
                is_built = false;
            }
        }
        for (const int64_t index : GetParam().bad) EXPECT_THROW(run(GetParam(), index, way), UserError) << index;
        EXPECT_TRUE(is_built || way == Way::kernel);
    }
}

INSTANTIATE_TEST_SUITE_P(Operators, Index, testing::ValuesIn(cases()),
                         [](const auto& info) { return info.param.name; });

// Attributes from which places in memory are computed; the sums that wrap are the interesting ones.
TEST(Index, GeometryIsChecked) {
    static const Catalogue catalogue;
    const std::string image = "graph { input %x: f32[1,1,4,4] ", columns = "graph { input %x: f32[1,4,9] ";
    const std::string shape = "const %s: i64[2] = {4,4} const %b: i64[2] = ";
    const std::string big = std::to_string(highest);
    for (const std::string& text : {
             columns + shape + "{0,2} %y = Col2Im:18(%x, %s, %b) output %y }",
             columns + shape + "{-2,-2} %y = Col2Im:18(%x, %s, %b) output %y }",
             columns + shape + "{2,2} %y = Col2Im:18(%x, %s, %b) {strides=[0,1]} output %y }",
             columns + shape + "{2,2} %y = Col2Im:18(%x, %s, %b) {dilations=[-1,1]} output %y }",
             columns + shape + "{2,2} %y = Col2Im:18(%x, %s, %b) {pads=[" + big + ",0," + big + ",0]} output %y }",
             columns + shape + "{2,2} %y = Col2Im:18(%x, %s, %b) {pads=[-4,0,0,0]} output %y }",
             columns + shape + "{2,2} %y = Col2Im:18(%x, %s, %b) {strides=[3,3]} output %y }",
             columns + "const %s: i64[2] = {-4,-4} const %b: i64[2] = {2,2} %y = Col2Im:18(%x, %s, %b) output %y }",
             columns + shape + "{4294967296,4294967296} %y = Col2Im:18(%x, %s, %b) output %y }",
             image + "%y = MaxPool:12(%x) {kernel_shape=[2,2], dilations=[" + big + ",1]} output %y }",
             image + "%y = MaxPool:12(%x) {kernel_shape=[2,2], pads=[-1,0,0,0]} output %y }",
             image + "%y = MaxPool:12(%x) {kernel_shape=[0,2]} output %y }",
             image + "%y = MaxPool:12(%x) {kernel_shape=[2,2], pads=[2,2,2,2], strides=[" + big + ",0]} output %y }",
             image + "%y = AveragePool:19(%x) {kernel_shape=[2,2], pads=[" + big +
                 ",0,1,0], count_include_pad=1} output %y }",
             image + "%y = LpPool:18(%x) {kernel_shape=[2,2,2]} output %y }",
             image + "%y = LpPool:18(%x) {kernel_shape=[2,2], p=0, pads=[-9,0,0,0]} output %y }",
         })
        EXPECT_THROW(
            {
                Build built = build(parse_graph(text), {}, Route(), Target::native(), catalogue);
                EngineInfo info;
                info.target = Target::native().text();
                Context(Engine::make(std::move(built.plan), info, catalogue.kernels))
                    .run(std::vector<Tensor>{Tensor(ElementType::f32, parse_graph(text).value(0).shape())});
            },
            UserError)
            << text;
}

}  // namespace
}  // namespace headway
