// ONNX Runtime as a builder: its engines agree with our references, its fingerprints tell engines apart and nothing
// else, and its recipes are refused when they no longer mean what was built.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/subprocess.h"
#include "graph/text.h"
#include "onnxruntime/fixture.h"
#include "tensor/compare.h"
#include "tensor/tensor_proto.h"
#include "workers/foreign/recipe.h"
#include "workers/sample_files.h"

namespace headway {
namespace {

constexpr double most_rel_l2 = 1e-4;  // fp32, summed in another order
constexpr double most_rel_l2_when_approximate = 1e-2;

const char* const dynamic_graph = R"(graph {
  input %x: f32[batch,3,width]
  const %w: f32[3,1] = {1,2,3}
  %m = Mul(%x, %w) @"m"
  %y = Relu(%m) @"y"
  output %y
})";

class OnnxRuntime : public testing::OnnxRuntimeTest {
protected:
    void open(const char* witness, int threads = 2) {
        builder_->open(request(testing::witness_graph(witness), threads));
    }

    // Outputs of an engine, or of the builder's reference when `engine` is empty, on generated inputs.
    std::vector<Tensor> outputs(Builder& builder, const Graph& graph, const std::string& engine) {
        std::vector<NamedTensor> inputs;
        const std::vector<Tensor> tensors = testing::random_inputs(graph);
        for (size_t k = 0; k < tensors.size(); ++k) inputs.push_back({graph.value(graph.inputs[k]).name, tensors[k]});
        std::filesystem::remove_all(path("in"));
        write_sample(path("in"), inputs, {});
        if (engine.empty())
            builder.reference(path("in"), path("out"));
        else
            builder.check(engine, path("in"), path("out"));
        std::vector<Tensor> read;
        for (size_t k = 0; k < graph.outputs.size(); ++k) {
            const auto file =
                std::make_shared<const std::string>(read_file(path("out/output_" + std::to_string(k) + ".pb")));
            read.push_back(read_tensor_proto(*file, file).tensor);
        }
        return read;
    }

    static double distance(const std::vector<Tensor>& got, const std::vector<Tensor>& want) {
        double worst = 0;
        for (size_t k = 0; k < got.size(); ++k) worst = std::max(worst, compare_tensors(got[k], want[k], 0, 0).rel_l2);
        return worst;
    }

    std::vector<Tensor> our_reference(const Graph& graph) {
        const std::unique_ptr<Builder> native = make("native");
        native->open(request(graph));
        return outputs(*native, graph, "");
    }
};

TEST_F(OnnxRuntime, AgreesWithOurReferences) {
    for (const char* name : {"conv_chain", "conv_epilogue", "gelu", "layer_norm_spelled", "lstm", "two_branches"}) {
        const Graph graph = testing::witness_graph(name);
        builder_ = make();
        builder_->open(request(graph));
        builder_->build("", path("e.hwe"), "");
        builder_->load(path("e.hwe"), 1);
        const std::vector<Tensor> want = our_reference(graph);
        EXPECT_LE(distance(outputs(*builder_, graph, path("e.hwe")), want), most_rel_l2) << name;
        EXPECT_LE(distance(outputs(*builder_, graph, ""), want), most_rel_l2) << name;
    }
}

TEST_F(OnnxRuntime, HashesAModelAsTheNativeBuilderDoes) {
    const OpenRequest same = request(testing::witness_graph("conv_chain"));
    EXPECT_EQ(builder_->open(same).model_hash, make("native")->open(same).model_hash);
}

// Every value of every knob gives an engine with the right outputs, or says why not.
TEST_F(OnnxRuntime, EveryValueIsBuiltAndRight) {
    for (const char* name : {"conv_chain", "gelu"}) {
        const Graph graph = testing::witness_graph(name);
        builder_ = make();
        builder_->open(request(graph));
        const std::vector<Tensor> want = our_reference(graph);
        int engine = 0;
        for (const KnobDescription& knob : builder_->describe().knobs)
            for (size_t k = 1; k < knob.values.size(); ++k) {
                const std::string route = knob.name + "=" + knob.values[k];
                const std::string file = path(std::to_string(engine++) + ".hwe");
                builder_->build(route, file, "");
                builder_->load(file, 1);
                const bool exact = knob.numerics == "exact" || knob.numerics == "reorders";
                EXPECT_LE(distance(outputs(*builder_, graph, file), want),
                          exact ? most_rel_l2 : most_rel_l2_when_approximate)
                    << name << " " << route;
            }
    }
}

TEST_F(OnnxRuntime, FingerprintsTellEnginesApartAndNothingElse) {
    open("conv_chain");
    const std::string standard = fingerprint("");
    EXPECT_EQ(fingerprint("optimizer.LabelEncoderFusion=off"), standard);
    EXPECT_EQ(fingerprint("thread.inter=1"), standard) << "nodes run one after the other";
    EXPECT_EQ(fingerprint("kernel.lut_gemm=on"), standard) << "there is no such product";
    EXPECT_EQ(fingerprint("thread.spinning=off,thread.intra=1"), fingerprint("thread.intra=1"));
    for (const char* route : {"thread.intra=1", "optimizer.NchwcTransformer=off", "graph.level=disabled",
                              "memory.arena=off", "thread.execution=parallel", "kernel.pointwise_batch=64"})
        EXPECT_NE(fingerprint(route), standard) << route;
    EXPECT_NE(fingerprint("optimizer.NchwcTransformer=off,optimizer.ConvActivationFusion=off"),
              fingerprint("optimizer.NchwcTransformer=off"))
        << "the second name of the list";
    const std::unique_ptr<Builder> again = make();
    again->open(request(testing::witness_graph("conv_chain")));
    EXPECT_EQ(again->build("", path("e.hwe"), "").fingerprint, standard);
}

TEST_F(OnnxRuntime, OtherConstantsAreAnotherEngineOfTheSameSpeed) {
    std::string text = read_file(std::string(HEADWAY_TEST_GRAPHS) + "/conv_chain.txt");
    builder_->open(request(parse_graph(text)));
    const BuiltEngine one = builder_->build("", path("e.hwe"), "");
    text.replace(text.find("random(3)"), 9, "random(7)");
    builder_ = make();
    builder_->open(request(parse_graph(text)));
    const BuiltEngine other = builder_->build("", path("e.hwe"), "");
    EXPECT_NE(one.fingerprint, other.fingerprint);
    EXPECT_EQ(one.timing_key, other.timing_key);
}

TEST_F(OnnxRuntime, StreamsRunAtTheSameTime) {
    const Graph graph = testing::witness_graph("conv_chain");
    builder_->open(request(graph));
    builder_->build("", path("e.hwe"), "");
    builder_->load(path("e.hwe"), 1);
    EXPECT_ANY_THROW(builder_->run(path("e.hwe"), 1, 1));
    builder_->load(path("e.hwe"), 3);
    std::vector<std::thread> callers;
    for (int stream = 0; stream < 3; ++stream)
        callers.emplace_back([&, stream] { builder_->run(path("e.hwe"), 50, stream); });
    for (std::thread& caller : callers) caller.join();
    EXPECT_LE(distance(outputs(*builder_, graph, path("e.hwe")), our_reference(graph)), most_rel_l2);
}

TEST_F(OnnxRuntime, OpenExtentsComeFromTheRequestAndCanBeBound) {
    OpenRequest open = request(parse_graph(dynamic_graph));
    EXPECT_THROW(builder_->open(open), UserError);
    open.shapes = {{"x", {2, 3, 5}}};
    builder_ = make();
    const OpenedModel opened = builder_->open(open);
    EXPECT_EQ(opened.outputs.at(0).dims, (std::vector<int64_t>{2, 3, 5}));
    EXPECT_NE(fingerprint(""), fingerprint("graph.free_dimensions=bound"));
    builder_->load(path("e.hwe"), 1);
    builder_->run(path("e.hwe"), 2, 0);
    const Tensor narrow(ElementType::f32, Shape{2, 3, 4});
    write_sample(path("in"), std::vector<NamedTensor>{{"x", narrow}}, {});
    EXPECT_THROW(builder_->check(path("e.hwe"), path("in"), path("out")), UserError);
}

// ONNX Runtime sets the calling thread's treatment for the first session of a process only.
TEST_F(OnnxRuntime, DenormalsAreTreatedAsEachEngineAsks) {
    const Graph graph = parse_graph("graph {\n input %x: f32[4]\n %y = Add(%x, %x)\n output %y\n}");
    builder_->open(request(graph, 1));
    write_sample(path("in"), std::vector<NamedTensor>{{"x", Tensor::of<float>({4}, std::vector<float>(4, 1e-39F))}},
                 {});
    for (const auto& [route, is_zero] : {std::pair{"numeric.denormals=zero", true}, {"", false}}) {
        const std::string engine = path(is_zero ? "zero.hwe" : "keep.hwe");
        builder_->build(route, engine, "");
        builder_->load(engine, 1);
    }
    for (const auto& [engine, is_zero] : {std::pair{"zero.hwe", true}, {"keep.hwe", false}, {"zero.hwe", true}}) {
        builder_->check(path(engine), path("in"), path("out"));
        const auto file = std::make_shared<const std::string>(read_file(path("out/output_0.pb")));
        EXPECT_EQ(read_tensor_proto(*file, file).tensor.at(0) == 0, is_zero) << engine;
    }
}

TEST_F(OnnxRuntime, ProfilesByNode) {
    open("conv_chain");
    builder_->build("graph.level=disabled", path("e.hwe"), "");
    builder_->load(path("e.hwe"), 1);
    const std::vector<StepTime> steps = builder_->profile(path("e.hwe"), 3);
    ASSERT_EQ(steps.size(), 5u);
    EXPECT_EQ(steps[0].kernel, "Conv");
    EXPECT_EQ(steps[0].origins, std::vector<std::string>{"conv1"});
}

TEST_F(OnnxRuntime, TheLedgerCountsTheNodesThatAreLeft) {
    open("conv_chain");
    builder_->build("graph.level=disabled", path("e.hwe"), path("ledger.json"));
    const nlohmann::json ledger = nlohmann::json::parse(read_file(path("ledger.json")));
    EXPECT_EQ(ledger.at("nodes").at("Conv"), 3);
    EXPECT_EQ(ledger.at("settings").at("graph.level"), "disabled");
}

TEST_F(OnnxRuntime, AnEngineOfAnotherModelIsRefused) {
    open("conv_chain");
    builder_->build("", path("e.hwe"), "");
    write_file_atomically(path("model.onnx"), export_onnx(testing::witness_graph("gelu")));
    EXPECT_THROW(builder_->load(path("e.hwe"), 1), UserError);
}

TEST_F(OnnxRuntime, AnEngineCanBeOpenedByItself) {
    const Graph graph = testing::witness_graph("conv_chain");
    const std::string hash = builder_->open(request(graph)).model_hash;
    builder_->build("thread.intra=1", path("e.hwe"), "");
    OpenRequest engine;
    engine.model = path("e.hwe");
    builder_ = make();
    EXPECT_EQ(builder_->open(engine).model_hash, hash);
    builder_->load(path("e.hwe"), 1);
    builder_->run(path("e.hwe"), 1, 0);
    EXPECT_LE(distance(outputs(*builder_, graph, path("e.hwe")), our_reference(graph)), most_rel_l2);
}

TEST_F(OnnxRuntime, SettingsOfARecipeAreNotTrusted) {
    open("conv_chain");
    const BuiltEngine built = builder_->build("", path("e.hwe"), "");
    const Recipe good = read_recipe(path("e.hwe"));
    for (const auto& [knob, value] : std::map<std::string, std::string>{{"thread.intra", "-1"},
                                                                        {"thread.intra", "99999"},
                                                                        {"graph.level", "some"},
                                                                        {"memory.arena", ""},
                                                                        {"qdq.fusion", "maybe"},
                                                                        {"optimizer.GemmSumFusion", "x"}}) {
        Recipe bad = good;
        bad.settings[knob] = value;
        write_recipe(path("bad.hwe"), bad);
        EXPECT_THROW(builder_->load(path("bad.hwe"), 1), UserError) << knob;
    }
    Recipe bad = good;
    bad.settings.erase("thread.intra");
    write_recipe(path("bad.hwe"), bad);
    EXPECT_THROW(builder_->load(path("bad.hwe"), 1), UserError);
    bad = good;
    bad.inputs[0].dims[3] += 1;
    write_recipe(path("bad.hwe"), bad);
    EXPECT_THROW(builder_->load(path("bad.hwe"), 1), UserError);
    bad = good;
    bad.builder = "openvino";
    write_recipe(path("bad.hwe"), bad);
    EXPECT_THROW(builder_->load(path("bad.hwe"), 1), UserError);
}

TEST_F(OnnxRuntime, VariantsAreValuesOfAKnob) {
    const Graph graph = testing::witness_graph("conv_chain");
    std::string text = read_file(std::string(HEADWAY_TEST_GRAPHS) + "/conv_chain.txt");
    text.replace(text.find("random(3)"), 9, "random(7)");
    write_file_atomically(path("other.onnx"), export_onnx(parse_graph(text)));
    write_file_atomically(path("alien.onnx"), export_onnx(testing::witness_graph("gelu")));
    OpenRequest with_variants = request(graph);
    with_variants.variants = {path("other.onnx"), path("alien.onnx")};
    builder_->open(with_variants);
    EXPECT_EQ(builder_->describe().knobs.back().values,
              (std::vector<std::string>{"given", "alien.onnx", "other.onnx"}));
    builder_->build("model.variant=other.onnx", path("e.hwe"), "");
    builder_->load(path("e.hwe"), 1);
    const std::vector<Tensor> got = outputs(*builder_, graph, path("e.hwe"));
    EXPECT_LE(distance(got, our_reference(parse_graph(text))), most_rel_l2);
    EXPECT_THROW(builder_->build("model.variant=alien.onnx", path("e.hwe"), ""), Refused);
    with_variants.variants = {path("a,b.onnx")};
    EXPECT_THROW(make()->open(with_variants), UserError);
}

TEST_F(OnnxRuntime, BadFilesAreOneLine) {
    write_file_atomically(path("model.onnx"), std::string_view("\x08\x08", 2));
    OpenRequest bad;
    bad.model = path("model.onnx");
    try {
        builder_->open(bad);
        ADD_FAILURE() << "an empty model was opened";
    } catch (const UserError& error) {
        EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    }
}

TEST_F(OnnxRuntime, SnippetsSetWhatTheRouteSets) {
    OpenRequest open = request(parse_graph(dynamic_graph));
    open.shapes = {{"x", {2, 3, 5}}};
    builder_->open(open);
    builder_->build(
        "thread.intra=1,graph.level=extended,thread.execution=parallel,memory.arena=off,memory.pattern=off,"
        "graph.free_dimensions=bound,thread.spinning=off,thread.block_base=4,optimizer.ConvAddFusion=off,"
        "optimizer.GemmSumFusion=off",
        path("e.hwe"), "");
    const std::vector<Snippet> snippets = builder_->snippets(path("e.hwe"));
    ASSERT_EQ(snippets.size(), 2u);
    for (const char* part : {"AddFreeDimensionOverrideByName(options, \"width\", 5)", "DisableCpuMemArena()",
                             "SetIntraOpNumThreads(1)", "\"session.dynamic_block_base\", \"4\""})
        EXPECT_NE(snippets[1].text.find(part), std::string::npos) << snippets[1].text;
    if (!std::filesystem::exists(HEADWAY_PYTHON))
        GTEST_SKIP() << "no " << HEADWAY_PYTHON << ": tools/bootstrap --peers";
    write_file_atomically(
        path("snippet.py"),
        snippets[0].text +
            "got = session.get_session_options()\n"
            "print(got.intra_op_num_threads, got.graph_optimization_level.name, got.execution_mode.name,\n"
            "      got.enable_cpu_mem_arena, got.enable_mem_pattern, session.get_inputs()[0].shape,\n"
            "      got.get_session_config_entry('optimization.disable_specified_optimizers'))\n");
    SubprocessOptions python;
    python.command = {HEADWAY_PYTHON, path("snippet.py")};
    Subprocess run(python);
    std::string line;
    ASSERT_EQ(run.read_line(line, 60, 4096), Subprocess::Read::line) << run.last_error_line();
    EXPECT_EQ(line, "1 ORT_ENABLE_EXTENDED ORT_PARALLEL False False [2, 3, 5] GemmSumFusion;ConvAddFusion");
}

}  // namespace
}  // namespace headway
