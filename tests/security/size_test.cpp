// Files of a few hundred bytes that ask for any amount of memory or time. Each is fed to the program in a process of
// little memory that may do little work: it must be refused in one line, or answered (rule 2 of
// docs/design/0012-untrusted-input.md).
#include <gtest/gtest.h>

#include "base/temporary.h"
#include "graph/text.h"
#include "onnx/export.h"
#include "support/program.h"

namespace headway {
namespace {

constexpr int64_t memory = int64_t{1} << 30;
// What is counted, not timed: a machine takes a second or ten for it.
const std::string work_limit = " --threads 1 --work-limit 1G";
constexpr size_t largest_file = 1000;

struct Request {
    const char* name;
    std::string text;  // of a graph
};

void PrintTo(const Request& request, std::ostream* out) { *out << request.name; }

// A graph whose last line is the node that asks; `constants` stand before it.
std::string graph(const std::string& constants, const std::string& node) {
    return "graph {\n input %x: f32[1,1,4,4]\n" + constants + "\n %y = " + node + " @\"asks\"\n output %y\n}";
}

std::string integers(const std::string& name, const std::string& values, int count) {
    return " const %" + name + ": i64[" + std::to_string(count) + "] = {" + values + "}\n";
}

const std::string huge = "1099511627776";           // 2^40
const std::string largest = "9223372036854775807";  // 2^63 - 1

std::vector<Request> output_sizes() {
    const auto with = [](const std::string& values, int count, const std::string& node) {
        return graph(integers("n", values, count), node);
    };
    return {
        {"ConstantOfShape", with(huge, 1, "ConstantOfShape:9(%n)")},
        {"ConstantOfShapeOverflow", with(largest + "," + largest, 2, "ConstantOfShape:9(%n)")},
        {"ConstantOfShapeWrapsToZero", with("4294967296,4294967296", 2, "ConstantOfShape:9(%n)")},
        {"ConstantOfShapeJustBeyondTheMachine", with("2147483648", 1, "ConstantOfShape:9(%n)")},
        {"Expand", with("1048576,1048576,4,4", 4, "Expand:13(%x, %n)")},
        {"Tile", with("1048576,1048576,1,1", 4, "Tile:13(%x, %n)")},
        {"TileOverflow", with(largest + ",1,1,1", 4, "Tile:13(%x, %n)")},
        {"Pad", with("0,0,0,0," + huge + ",0,0,0", 8, "Pad:13(%x, %n)")},
        {"PadOverflow", with(largest + ",0,0,0," + largest + ",0,0,0", 8, "Pad:13(%x, %n)")},
        {"PadReflect", with("0,0,0,0,0,0," + huge + ",0", 8, "Pad:18(%x, %n) {mode=\"reflect\"}")},
        {"Range", graph(" const %a: i64[] = {0}\n const %b: i64[] = {" + huge + "}\n const %c: i64[] = {1}\n",
                        "Range:11(%a, %b, %c)")},
        {"RangeOfReals",
         graph(" const %a: f32[] = {0}\n const %b: f32[] = {1}\n const %c: f32[] = {1e-30}\n", "Range:11(%a, %b, %c)")},
        {"ResizeSizes", with("1,1,1048576,1048576", 4, "Resize:13(%x, _, _, %n)")},
        {"ResizeScales", graph(" const %n: f32[4] = {1,1,1000000,1000000}\n", "Resize:13(%x, _, %n)")},
        {"ResizeScalesOfInfinity", graph(" const %n: f32[4] = {1,1,inf,1}\n", "Resize:13(%x, _, %n)")},
        {"Upsample", graph(" const %n: f32[4] = {1,1,1000000,1000000}\n", "Upsample:9(%x, %n)")},
        {"OneHot", graph(integers("i", "0,1", 2) + " const %d: i64[] = {" + huge + "}\n const %v: f32[2] = {0,1}\n",
                         "OneHot:11(%i, %d, %v)")},
        {"EyeLike", graph(" const %n: i64[2] = {1048576,1048576}\n %z = ConstantOfShape:9(%n)", "EyeLike:9(%z)")},
        {"RandomNormal", graph("", "RandomNormal:1() {shape=[1048576,1048576]}")},
        {"RandomUniform", graph("", "RandomUniform:1() {shape=[" + largest + ",2]}")},
        {"CenterCropPad", with("1,1," + huge + ",1", 4, "CenterCropPad:18(%x, %n)")},
        {"MelWeightMatrix",
         graph(" const %a: i64[] = {1048576}\n const %b: i64[] = {1048576}\n const %c: i64[] = {8000}\n"
               " const %l: f32[] = {0}\n const %h: f32[] = {4000}\n",
               "MelWeightMatrix:17(%a, %b, %c, %l, %h)")},
        {"MelWeightMatrixOfALongTransform", graph(" const %a: i64[] = {8}\n const %b: i64[] = {" + largest +
                                                      "}\n const %c: i64[] = {8000}\n"
                                                      " const %l: f32[] = {0}\n const %h: f32[] = {4000}\n",
                                                  "MelWeightMatrix:17(%a, %b, %c, %l, %h)")},
        {"HannWindow", graph(" const %n: i64[] = {" + huge + "}\n", "HannWindow:17(%n)")},
        {"HammingWindowNegative", graph(" const %n: i64[] = {-5}\n", "HammingWindow:17(%n)")},
        {"BlackmanWindow", graph(" const %n: i64[] = {" + largest + "}\n", "BlackmanWindow:17(%n)")},
        {"Col2Im",
         graph(" const %c: f32[1,1,4] = fill(1)\n" + integers("s", "1048576,1048576", 2) + integers("b", "1,1", 2),
               "Col2Im:18(%c, %s, %b)")},
        {"DftLength",
         graph(" const %c: f32[1,4,1] = fill(1)\n const %n: i64[] = {" + huge + "}\n const %a: i64[] = {1}\n",
               "DFT:20(%c, %n, %a)")},
        {"StftFrame",
         graph(" const %s: f32[1,8,1] = fill(1)\n const %t: i64[] = {1}\n const %l: i64[] = {" + huge + "}\n",
               "STFT:17(%s, %t, _, %l)")},
        {"ConvTransposeOutputShape",
         graph(" const %w: f32[1,1,1,1] = {1}\n", "ConvTranspose:11(%x, %w) {output_shape=[1048576,1048576]}")},
        {"ConvTransposeStrides",
         graph(" const %w: f32[1,1,1,1] = {1}\n", "ConvTranspose:11(%x, %w) {strides=[" + huge + "," + huge + "]}")},
        {"ConvTransposeOutputPadding",
         graph(" const %w: f32[1,1,1,1] = {1}\n",
               "ConvTranspose:11(%x, %w) {strides=[" + huge + ",1], output_padding=[1099511627775,0]}")},
        {"ConvPads", graph(" const %w: f32[1,1,1,1] = {1}\n", "Conv:11(%x, %w) {pads=[" + huge + ",0,0,0]}")},
        {"ConvPadsOverflow",
         graph(" const %w: f32[1,1,1,1] = {1}\n", "Conv:11(%x, %w) {pads=[" + largest + ",0," + largest + ",0]}")},
        {"ConvDilation",
         graph(" const %w: f32[1,1,2,2] = fill(1)\n", "Conv:11(%x, %w) {dilations=[" + largest + ",1]}")},
        {"ConvStrideZero", graph(" const %w: f32[1,1,1,1] = {1}\n", "Conv:11(%x, %w) {strides=[0,1]}")},
        {"ConvStrideNegative", graph(" const %w: f32[1,1,1,1] = {1}\n", "Conv:11(%x, %w) {strides=[-1,1]}")},
        {"ConvGroupZero", graph(" const %w: f32[1,1,1,1] = {1}\n", "Conv:11(%x, %w) {group=0}")},
        {"MaxPoolPads",
         graph("", "MaxPool:12(%x) {kernel_shape=[" + huge + ",1], pads=[1099511627775,0,1099511627775,0]}")},
        {"MaxPoolOverflow",
         graph("", "MaxPool:12(%x) {kernel_shape=[2,2], pads=[" + largest + ",0," + largest + ",0]}")},
        {"AveragePoolKernel", graph("", "AveragePool:19(%x) {kernel_shape=[" + huge + "," + huge +
                                            "], pads=[549755813888,549755813888,549755813888,549755813888]}")},
        {"AveragePoolCountsPads",
         graph("",
               "AveragePool:19(%x) {kernel_shape=[1073741824,1073741824], count_include_pad=1, "
               "pads=[536870912,536870912,536870912,536870912]}")},
        {"LpPoolKernel",
         graph("", "LpPool:18(%x) {kernel_shape=[" + huge + ",1], pads=[549755813888,0,549755813888,0]}")},
        {"MaxUnpool", graph(" const %i: i64[1,1,4,4] = fill(0)\n" + integers("s", "1,1,1048576,1048576", 4),
                            "MaxUnpool:11(%x, %i, %s) {kernel_shape=[2,2]}")},
        {"Reshape", with("-1," + largest, 2, "Reshape:13(%x, %n)")},
        {"ReshapeWraps", with("4611686018427387904,8", 2, "Reshape:13(%x, %n)")},
        {"GatherOfAWideTable",
         graph(integers("n", "1,268435456", 2) + " %t = ConstantOfShape:9(%n)\n" + integers("m", "65536", 1) +
                   " const %v: i64[1] = {0}\n %i = ConstantOfShape:9(%m) {value=i64[1] {0}}\n",
               "Gather:13(%t, %i)")},
        {"SliceSteps",
         graph(integers("a", "0", 1) + integers("b", largest, 1) + integers("c", "0", 1) + integers("d", largest, 1),
               "Slice:13(%x, %a, %b, %c, %d)")},
        {"SplitParts", graph("", "Split:18(%x) {num_outputs=" + largest + "}")},
        {"TopK", graph(integers("k", huge, 1), "TopK:11(%x, %k) {axis=3}")},
        {"UnsqueezeAxis", with(largest, 1, "Unsqueeze:13(%x, %n)")},
        {"DepthToSpace", graph("", "DepthToSpace:13(%x) {blocksize=4294967296}")},
        {"SpaceToDepth", graph("", "SpaceToDepth:13(%x) {blocksize=" + largest + "}")},
        {"RoiAlign", graph(" const %r: f32[1,4] = {0,0,1,1}\n const %b: i64[1] = {0}\n",
                           "RoiAlign:16(%x, %r, %b) {output_height=1048576, output_width=1048576}")},
        {"RoiAlignSamples", graph(" const %r: f32[1,4] = {0,0,1,1}\n const %b: i64[1] = {0}\n",
                                  "RoiAlign:16(%x, %r, %b) {sampling_ratio=2147483647}")},
        {"RoiAlignOfALargeBox",
         graph(" const %r: f32[1,4] = {0,0,1e30,1e30}\n const %b: i64[1] = {0}\n", "RoiAlign:16(%x, %r, %b)")},
        {"AffineGrid",
         graph(" const %t: f32[1,2,3] = fill(0)\n" + integers("s", "1,1,1048576,1048576", 4), "AffineGrid:20(%t, %s)")},
        {"GridSample",
         graph(integers("n", "1,1048576,1048576,2", 4) + " %g = ConstantOfShape:9(%n)\n", "GridSample:16(%x, %g)")},
        {"Bernoulli", graph(integers("n", huge, 1) + " %p = ConstantOfShape:9(%n)\n", "Bernoulli:15(%p)")},
        {"LstmHiddenSize",
         graph(" const %w: f32[1,4,4] = fill(0)\n const %r: f32[1,4,1] = fill(0)\n const %s: f32[1,1,4] = fill(0)\n",
               "LSTM:14(%s, %w, %r) {hidden_size=" + huge + "}")},
        {"TfIdfNgrams",
         graph(integers("t", "1,2", 2),
               "TfIdfVectorizer:9(%t) {max_gram_length=1, min_gram_length=1, max_skip_count=0, mode=\"TF\", "
               "ngram_counts=[0], ngram_indexes=[" +
                   largest + "], pool_int64s=[1]}")},
    };
}

// Results are small, the computing is not.
std::vector<Request> long_computations() {
    const std::string long_vector = integers("n", "16777216", 1) + " %v = ConstantOfShape:9(%n)\n";
    const std::string row = integers("n", "1,8388608", 2) + " %v = ConstantOfShape:9(%n)\n";
    return {
        {"EinsumOfVectors", graph(long_vector, "Einsum:12(%v, %v, %v) {equation=\"a,b,c->\"}")},
        {"EinsumOfManyVectors", graph(integers("n", "4096", 1) + " %v = ConstantOfShape:9(%n)\n",
                                      "Einsum:12(%v, %v, %v, %v, %v) {equation=\"a,b,c,d,e->\"}")},
        {"MatMulOfConstants",
         graph(integers("n", "8192,8192", 2) + " %v = ConstantOfShape:9(%n)\n", "MatMul:13(%v, %v)")},
        {"GemmOfConstants", graph(row, "Gemm:13(%v, %v) {transA=1}")},
        {"ConvOfConstants", graph(integers("n", "1,1,4096,4096", 4) + " %v = ConstantOfShape:9(%n)\n" +
                                      integers("m", "64,1,512,512", 4) + " %w = ConstantOfShape:9(%m)\n",
                                  "Conv:11(%v, %w)")},
        {"AttentionOfConstants",
         graph(integers("n", "1,1,65536,64", 4) + " %v = ConstantOfShape:9(%n)\n", "Attention:23(%v, %v, %v)")},
        {"DftOfAPrime",
         graph(integers("n", "1,16777213,1", 3) + " %v = ConstantOfShape:9(%n)\n", "DFT:17(%v) {axis=1}")},
        {"LrnSize", graph("", "LRN:13(%x) {size=" + largest + "}")},
    };
}

// Turns of a loop with nothing in them, and what cannot be known before it runs. Each asks for hours at least.
std::vector<Request> long_runs() {
    const std::string state =
        "{body=graph {\n input %i: i64[]\n input %c: bool[]\n input %v: f32\n %go = Identity:13(%c)\n "
        "output %go\n output %v\n}}";
    const std::string trips = " const %n: i64[] = {" + largest + "}\n const %true: bool[] = {1}\n";
    const std::string many =
        " %boxes = RandomUniform:1() {shape=[1,262144,4]}\n"
        " %scores = RandomUniform:1() {shape=[1,1,262144]}\n const %all: i64[] = {262144}\n"
        " const %overlap: f32[] = {1}\n";
    const std::string inner =
        " %w = Loop:13(%n, %true, %v) {body=graph {\n input %j: i64[]\n input %d: bool[]\n input "
        "%u: f32\n %on = Identity:13(%d)\n output %on\n output %u\n}}\n";
    return {
        {"LoopOfNothing", graph(trips, "Loop:13(%n, %true, %x) " + state)},
        {"LoopWithoutACount", graph(trips, "Loop:13(_, %true, %x) " + state)},
        {"LoopInALoop",
         graph(" const %n: i64[] = {65536}\n const %true: bool[] = {1}\n",
               "Loop:13(%n, %true, %x) {body=graph {\n input %i: i64[]\n input %c: bool[]\n input %v: f32\n" + inner +
                   " %go = Identity:13(%c)\n output %go\n output %w\n}}")},
        {"OverlapsOfManyBoxes", graph(many, "NonMaxSuppression:11(%boxes, %scores, %all, %overlap)")},
        {"TransformOfALongLine", graph(" %v = RandomUniform:1() {shape=[1,1000003,1]}\n", "DFT:17(%v) {axis=1}")},
        {"ProductOfInputs", graph(" %v = RandomUniform:1() {shape=[8192,8192]}\n", "MatMul:13(%v, %v)")},
        {"RegionsOfManySamples",
         graph(" %r = RandomUniform:1() {shape=[4096,4], high=4000000.0}\n const %m: i64[1] = {4096}\n %b = "
               "ConstantOfShape:9(%m) {value=i64[1] {0}}\n",
               "RoiAlign:16(%x, %r, %b) {output_height=64, output_width=64}")},
    };
}

class Size : public testing::TestWithParam<Request> {};

TEST_P(Size, IsRefusedOrAnsweredWithLittleWork) {
    const TemporaryFolder folder;
    const std::string bytes = export_onnx(parse_graph(GetParam().text));
    EXPECT_LE(bytes.size(), largest_file);
    write_bytes(folder.path() + "/m.onnx", bytes);
    const ProgramRun run = run_program(in_folder("run {}/m.onnx" + work_limit, folder.path()), memory);
    EXPECT_TRUE(run.code == 0 || run.code == 2) << "code " << run.code << ", " << run.text();
    if (run.code != 2) return;
    ASSERT_EQ(run.lines.size(), 1U) << run.text();
    EXPECT_TRUE(run.lines[0].find("asks") != std::string::npos || run.lines[0].find("memory") != std::string::npos)
        << run.lines[0];
}

class Run : public testing::TestWithParam<Request> {};

TEST_P(Run, EndsWhenItsWorkIsSpent) {
    const TemporaryFolder folder;
    const std::string bytes = export_onnx(parse_graph(GetParam().text));
    EXPECT_LE(bytes.size(), largest_file);
    write_bytes(folder.path() + "/m.onnx", bytes);
    for (const char* command : {"run", "check"}) {
        const ProgramRun run =
            run_program(in_folder(std::string(command) + " {}/m.onnx" + work_limit, folder.path()), memory);
        EXPECT_EQ(run.code, 2) << run.text();
        ASSERT_EQ(run.lines.size(), 1U) << run.text();
        EXPECT_NE(run.lines[0].find("that one call may take (see --work-limit)"), std::string::npos) << run.lines[0];
    }
}

std::string name_of(const testing::TestParamInfo<Request>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(Outputs, Size, testing::ValuesIn(output_sizes()), name_of);
INSTANTIATE_TEST_SUITE_P(Work, Run, testing::ValuesIn(long_runs()), name_of);
INSTANTIATE_TEST_SUITE_P(Work, Size, testing::ValuesIn(long_computations()), name_of);

}  // namespace
}  // namespace headway
