// OpenVINO's builder on small graphs: agreement with the plain operators, what fingerprints tell, recipes, streams.
#include <gtest/gtest.h>

#include <filesystem>
#include <thread>

#include "data/samples.h"
#include "graph/text.h"
#include "onnx/export.h"
#include "openvino/openvino_builder.h"
#include "ops/op.h"
#include "support/graph_engine.h"
#include "tensor/compare.h"

namespace headway {
namespace {

// Sums in another order and other polynomials, in f32.
constexpr double most_difference = 2e-4;

// An empty input name in a transposed convolution, which OpenVINO 2026.4 takes for a tensor of any rank.
constexpr const char* not_built = "conv_transpose";

constexpr const char* mixed_types = R"(graph {
  input %x: f32[2,3]
  input %n: i64[]
  input %m: bool[2,3]
  %f = Cast(%n) {to=1} @"f"
  %a = Mul(%x, %f) @"a"
  %w = Where(%m, %a, %x) @"w"
  %g = Greater(%x, %w) @"g"
  %i = Add(%n, %n) @"i"
  %c = Cast(%m) {to=6} @"c"
  output %w
  output %g
  output %i
  output %c
})";

constexpr const char* quantised = R"(graph {
  input %x: f32[1,64]
  const %scale: f32[] = {0.02}
  const %zero: u8[] = {128}
  const %w: i8[64,64] = random(1)
  const %w_scale: f32[] = {0.01}
  const %w_zero: i8[] = {0}
  %q: u8[1,64] = QuantizeLinear(%x, %scale, %zero) @"q"
  %d: f32[1,64] = DequantizeLinear(%q, %scale, %zero) @"d"
  %v: f32[64,64] = DequantizeLinear(%w, %w_scale, %w_zero) @"v"
  %y: f32[1,64] = MatMul(%d, %v) @"y"
  output %y
})";

class OpenvinoTest : public testing::OpenvinoBuilderTest {
protected:
    OpenedModel open(const Graph& graph, int threads = 2) {
        write_file_atomically(path("model.onnx"), export_onnx(graph));
        inputs_ = testing::random_inputs(graph);
        std::filesystem::remove_all(path("sample"));
        std::vector<NamedTensor> named;
        for (size_t k = 0; k < inputs_.size(); ++k) named.push_back({graph.value(graph.inputs[k]).name, inputs_[k]});
        write_sample(path("sample"), named, {});
        OpenRequest request;
        request.model = path("model.onnx");
        request.threads = threads;
        request.timing_data = path("sample");
        return builder_->open(request);
    }

    std::string reason_of_load() {
        try {
            builder_->load(path("engine.hwe"), 1);
        } catch (const UserError& error) {
            return error.what();
        }
        return "";
    }

    void replace_in_engine(const std::string& from, const std::string& to) {
        std::string text = read_file(path("engine.hwe"));
        const size_t at = text.find(from);
        ASSERT_NE(at, std::string::npos) << from;
        write_file_atomically(path("engine.hwe"), text.replace(at, from.size(), to));
    }

    std::vector<Tensor> inputs_;
};

TEST_F(OpenvinoTest, AgreesWithThePlainOperatorsOnEveryGraph) {
    for (const auto& file : std::filesystem::directory_iterator(HEADWAY_TEST_GRAPHS)) {
        const std::string name = file.path().stem().string();
        const Graph graph = testing::witness_graph(name);
        if (name == "open_shapes") continue;  // the sample that is made here has every extent from the model
        const OpenedModel opened = open(graph);
        ASSERT_EQ(opened.outputs.size(), graph.outputs.size()) << name;
        for (size_t k = 0; k < graph.outputs.size(); ++k)
            EXPECT_EQ(opened.outputs[k].name, graph.value(graph.outputs[k]).name) << name;
        try {
            build("", name);
        } catch (const Unsupported& error) {
            EXPECT_EQ(name, not_built) << error.what();
            continue;
        }
        build("format.precision=f32", name);
        const std::vector<Tensor> want = interpret(graph, inputs_, testing::catalogue().ops);
        const std::vector<Tensor> got = outputs_for(path("sample"), name);
        ASSERT_EQ(got.size(), want.size()) << name;
        // OpenVINO rounds values half way between two steps of QuantizeLinear to the odd one.
        constexpr double quantization_step = 0.03125;
        EXPECT_LE(testing::worst_difference(got, want), name == "quantize_pair" ? quantization_step : most_difference)
            << name;
        std::filesystem::remove_all(path("out"));
    }
}

TEST_F(OpenvinoTest, KeepsTypesScalarsAndTheOrderOfOutputs) {
    const Graph graph = parse_graph(mixed_types);
    const OpenedModel opened = open(graph);
    ASSERT_EQ(opened.inputs.size(), 3u);
    EXPECT_EQ(opened.inputs[1].type, "i64");
    EXPECT_TRUE(opened.inputs[1].dims.empty());
    ASSERT_EQ(opened.outputs.size(), 4u);
    EXPECT_EQ(opened.outputs[1].type, "bool");
    build("format.precision=f32");
    const std::vector<Tensor> want = interpret(graph, inputs_, testing::catalogue().ops);
    const std::vector<Tensor> got = outputs_for(path("sample"));
    ASSERT_EQ(got.size(), want.size());
    for (size_t k = 0; k < got.size(); ++k) {
        EXPECT_EQ(got[k].type(), want[k].type()) << k;
        EXPECT_EQ(got[k].shape(), want[k].shape()) << k;
        EXPECT_EQ(compare_tensors(got[k], want[k], 1e-6, 1e-6).mismatches, 0) << k;
    }
}

TEST_F(OpenvinoTest, ScalarsNeedNoData) {
    open(parse_graph(mixed_types));
    OpenRequest request;
    request.model = path("model.onnx");
    EXPECT_TRUE(builder_->open(request).inputs[1].dims.empty());
    request.values = {{"n", {3}}};
    EXPECT_TRUE(builder_->open(request).inputs[1].dims.empty());
    build("");
    builder_->load(path("engine.hwe"), 1);
    builder_->run(path("engine.hwe"), 1, 0);
}

TEST_F(OpenvinoTest, OutputsWhoseExtentsOnlyARunTells) {
    const Graph graph = parse_graph(
        "graph {\n  input %x: f32[2,3]\n  %r: f32[2,3] = Relu(%x) @\"r\"\n  %y: i64[2,n] = NonZero(%r) @\"y\"\n  "
        "output %y\n}");
    const OpenedModel opened = open(graph);
    std::vector<int64_t> rows, columns;
    for (int64_t i = 0; i < 6; ++i) {
        if (inputs_[0].at(i) <= 0) continue;
        rows.push_back(i / 3);
        columns.push_back(i % 3);
    }
    const auto found = static_cast<int64_t>(rows.size());
    ASSERT_GT(found, 0);
    ASSERT_LT(found, 6);
    EXPECT_EQ(opened.outputs[0].dims, (std::vector<int64_t>{2, found}));
    build("");
    rows.insert(rows.end(), columns.begin(), columns.end());
    EXPECT_EQ(outputs_for(path("sample"))[0].hash(), Tensor::of<int64_t>(Shape{2, found}, rows).hash());
}

TEST_F(OpenvinoTest, SettingsWithoutEffectShareTheDefaultsFingerprint) {
    open(testing::witness_graph("conv_chain"));
    const BuiltEngine standard = build("");
    EXPECT_EQ(build("").fingerprint, standard.fingerprint);
    for (const char* route : {"rewrite.low_precision=NO", "format.dynamic_quantization_group=0"}) {
        const BuiltEngine built = build(route);
        EXPECT_EQ(built.fingerprint, standard.fingerprint) << route;
        EXPECT_EQ(built.timing_key, standard.timing_key) << route;
    }
    for (const char* route :
         {"threads.count=1", "threads.partitioner=AUTO", "kernel.denormals_to_zero=YES", "threads.call=sync"})
        EXPECT_NE(build(route).fingerprint, standard.fingerprint) << route;
}

TEST_F(OpenvinoTest, FusionShowsInTheFingerprint) {
    open(testing::witness_graph("pointwise_chain"));
    EXPECT_NE(build("fusion.snippets=DISABLE").fingerprint, build("").fingerprint);
}

TEST_F(OpenvinoTest, IntegerExecutionShowsInTheFingerprint) {
    open(parse_graph(quantised));
    EXPECT_NE(build("rewrite.low_precision=NO").fingerprint, build("").fingerprint);
}

TEST_F(OpenvinoTest, ConstantsAreInTheFingerprintAndNotInTheTimingKey) {
    open(parse_graph(
        "graph {\n  input %x: f32[4]\n  const %c: f32[4] = {1,2,3,4}\n  %y = Add(%x, %c) @\"y\"\n  output %y\n}"));
    const BuiltEngine one = build("");
    open(parse_graph(
        "graph {\n  input %x: f32[4]\n  const %c: f32[4] = {1,2,3,5}\n  %y = Add(%x, %c) @\"y\"\n  output %y\n}"));
    const BuiltEngine other = build("");
    EXPECT_NE(one.fingerprint, other.fingerprint);
    EXPECT_EQ(one.timing_key, other.timing_key);
}

TEST_F(OpenvinoTest, VariantsAreValuesOfAKnob) {
    const Graph graph = testing::witness_graph("conv_chain");
    open(graph);
    write_file_atomically(path("variant.onnx"), export_onnx(parse_graph(mixed_types)));
    OpenRequest request;
    request.model = path("model.onnx");
    request.timing_data = path("sample");
    std::filesystem::create_directories(path("other"));
    std::filesystem::copy_file(path("model.onnx"), path("other/same.onnx"));
    request.variants = {path("variant.onnx"), path("other/same.onnx")};
    builder_->open(request);
    EXPECT_EQ(build("model.variant=same.onnx").timing_key, build("").timing_key);
    EXPECT_THROW(build("model.variant=variant.onnx"), Unsupported);  // other inputs
    request.variants = {path("model.onnx"), path("other/../model.onnx")};
    EXPECT_THROW(builder_->open(request), UserError);
}

TEST_F(OpenvinoTest, StreamsRunAtOnce) {
    const Graph graph = testing::witness_graph("conv_chain");
    open(graph);
    build("threads.streams=2,format.precision=f32");
    builder_->load(path("engine.hwe"), 2);
    std::vector<std::thread> callers;
    for (int stream : {0, 1}) callers.emplace_back([&, stream] { builder_->run(path("engine.hwe"), 50, stream); });
    for (std::thread& caller : callers) caller.join();
    EXPECT_LE(
        testing::worst_difference(outputs_for(path("sample")), interpret(graph, inputs_, testing::catalogue().ops)),
        most_difference);
    EXPECT_THROW(builder_->run(path("engine.hwe"), 1, 2), UserError);
}

TEST_F(OpenvinoTest, RecipesOfOtherThingsAreRefused) {
    open(testing::witness_graph("conv_chain"));
    build("threads.count=1");
    const std::string sound = read_file(path("engine.hwe"));
    EXPECT_EQ(reason_of_load(), "");
    builder_ = declared<BuilderKind>().find("openvino")->make();
    open(testing::witness_graph("conv_chain"));
    replace_in_engine(R"("builder":"openvino")", R"("builder":"onnxruntime")");
    EXPECT_NE(reason_of_load().find("onnxruntime"), std::string::npos);
    write_file_atomically(path("engine.hwe"), sound);
    replace_in_engine(R"("runtime_version":"2)", R"("runtime_version":"1)");
    EXPECT_NE(reason_of_load().find("build it again"), std::string::npos);
    write_file_atomically(path("engine.hwe"), sound);
    replace_in_engine(R"("route":"threads.count=1")", R"("route":"threads.number=1")");
    EXPECT_NE(reason_of_load().find("threads.number"), std::string::npos);
    write_file_atomically(path("engine.hwe"), sound);
    replace_in_engine(R"("threads.count":"1")", R"("threads.count":"many")");
    EXPECT_NE(reason_of_load().find("INFERENCE_NUM_THREADS"), std::string::npos) << reason_of_load();
    write_file_atomically(path("engine.hwe"), sound);
    open(testing::witness_graph("conv_1x1"));
    EXPECT_NE(reason_of_load(), "");
}

TEST_F(OpenvinoTest, ProfileNamesEveryNode) {
    open(testing::witness_graph("conv_chain"));
    build("");
    builder_->load(path("engine.hwe"), 1);
    const std::vector<StepTime> steps = builder_->profile(path("engine.hwe"), 20);
    ASSERT_FALSE(steps.empty());
    bool has_convolution = false;
    for (const StepTime& step : steps) {
        ASSERT_EQ(step.origins.size(), 1u);
        has_convolution |= step.kernel.starts_with("Convolution ");
    }
    EXPECT_TRUE(has_convolution);
}

TEST_F(OpenvinoTest, AnEngineOpensByItself) {
    const Graph graph = testing::witness_graph("conv_chain");
    open(graph);
    build("format.precision=f32");
    OpenRequest request;
    request.model = path("engine.hwe");
    builder_ = declared<BuilderKind>().find("openvino")->make();
    const OpenedModel opened = builder_->open(request);
    ASSERT_EQ(opened.outputs.size(), graph.outputs.size());
    EXPECT_LE(
        testing::worst_difference(outputs_for(path("sample")), interpret(graph, inputs_, testing::catalogue().ops)),
        most_difference);
    EXPECT_THROW(build(""), UserError);
}

}  // namespace
}  // namespace headway
