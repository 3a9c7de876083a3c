// OpenVINO's builder on benchmark models. Needs the models and data that tools/test makes; skipped without them.
#include <gtest/gtest.h>

#include <filesystem>

#include "base/subprocess.h"
#include "openvino/openvino_builder.h"
#include "tensor/compare.h"

namespace headway {
namespace {

// As for our own fp32 engines, see tests/models.
constexpr double most_rel_l2 = 1e-4;

class OpenvinoModelsTest : public testing::OpenvinoBuilderTest {
protected:
    // False when it is not here.
    bool open(const std::string& model, const std::string& profile) {
        OpenRequest request;
        request.model = std::string(HEADWAY_MODELS) + "/" + model + ".onnx";
        request.threads = 2;
        sample_ = std::string(HEADWAY_DATA) + "/" + model + "/" + profile + "/tuning/test_data_set_0";
        request.timing_data = sample_;
        if (!std::filesystem::exists(request.model) || !std::filesystem::exists(sample_)) return false;
        builder_->open(request);
        return true;
    }

    std::string sample_;
};

constexpr const char* no_models = "no models or data: tools/test fetches and makes them";

TEST_F(OpenvinoModelsTest, AgreeWithTheReferenceInF32) {
    for (const auto& [model, profile] : {std::pair{"magika", "b1"}, {"basic-pitch", "b1"}, {"ppocr4-rec", "b1_w160"}}) {
        if (!open(model, profile)) GTEST_SKIP() << no_models;
        build("format.precision=f32", model);
        const std::vector<Tensor> got = outputs_for(sample_, model);
        for (size_t k = 0; k < got.size(); ++k)
            EXPECT_LE(compare_tensors(got[k], read(sample_, k), 0, 0).rel_l2, most_rel_l2) << model << " output " << k;
        builder_->reference(sample_, path("reference"));
        for (size_t k = 0; k < got.size(); ++k)
            EXPECT_LE(compare_tensors(read(path("reference"), k), read(sample_, k), 0, 0).rel_l2, most_rel_l2)
                << model << " output " << k;
        std::filesystem::remove_all(path("out"));
    }
}

TEST_F(OpenvinoModelsTest, OpenShapesCanStayOpen) {
    if (!open("ppocr4-rec", "b1_w160")) GTEST_SKIP() << no_models;
    const BuiltEngine fixed = build("format.precision=f32");
    const BuiltEngine dynamic = build("format.precision=f32,model.shapes=dynamic");
    EXPECT_NE(fixed.fingerprint, dynamic.fingerprint);
    EXPECT_NE(build("format.precision=f32,model.shapes=dynamic,memory.shape_cache=0").fingerprint, dynamic.fingerprint);
    EXPECT_EQ(build("format.precision=f32,memory.shape_cache=0").fingerprint, fixed.fingerprint);
    build("format.precision=f32,model.shapes=dynamic");
    const std::vector<Tensor> got = outputs_for(sample_);
    ASSERT_EQ(got.size(), 1u);
    EXPECT_LE(compare_tensors(got[0], read(sample_, 0), 0, 0).rel_l2, most_rel_l2);
}

TEST_F(OpenvinoModelsTest, DynamicQuantisationIsSeenWhereWeightsAreCompressed) {
    if (!open("minilm-l6-w8", "b1_s16")) GTEST_SKIP() << no_models;
    const BuiltEngine quantised = build("format.precision=f32");
    const BuiltEngine exact = build("format.precision=f32,format.dynamic_quantization_group=0");
    EXPECT_NE(quantised.fingerprint, exact.fingerprint);
    EXPECT_EQ(build("format.execution_mode=ACCURACY").fingerprint, exact.fingerprint);
    EXPECT_LE(compare_tensors(outputs_for(sample_)[0], read(sample_, 0), 0, 0).rel_l2, most_rel_l2);
}

TEST_F(OpenvinoModelsTest, WhatOpenvinoCannotReadIsUnsupportedWithItsReason) {
    try {
        if (!open("silero-vad", "b1_16k")) GTEST_SKIP() << no_models;
        FAIL() << "this version reads it: choose another model";
    } catch (const Unsupported& error) {
        EXPECT_NE(std::string(error.what()).find("ReduceMean"), std::string::npos) << error.what();
    }
}

TEST_F(OpenvinoModelsTest, ThePythonSnippetMakesTheSameEngine) {
    if (!std::filesystem::exists(HEADWAY_PYTHON)) GTEST_SKIP() << "no " << HEADWAY_PYTHON;
    if (!open("magika", "b1")) GTEST_SKIP() << no_models;
    build("format.precision=f32,threads.count=1,threads.pinning=NO,memory.mapped_weights=NO,fusion.snippets=DISABLE");
    const std::vector<Snippet> snippets = builder_->snippets(path("engine.hwe"));
    ASSERT_EQ(snippets.size(), 2u);
    ASSERT_EQ(snippets[0].language, "python");
    // set when compiling it would come too late
    EXPECT_NE(snippets[0].text.find("core.set_property({\"ENABLE_MMAP\": \"NO\"})"), std::string::npos);
    const std::string use = R"(
import numpy
print(list(run({"bytes": numpy.zeros((1, 2048), numpy.int32)}).values())[0].shape)
for name in ("INFERENCE_PRECISION_HINT", "INFERENCE_NUM_THREADS", "ENABLE_CPU_PINNING"):
    print(compiled.get_property(name))
)";
    write_file_atomically(path("snippet.py"), snippets[0].text + use);
    Subprocess python({.command = {HEADWAY_PYTHON, path("snippet.py")}, .environment = {}, .memory_limit = 0});
    std::string line;
    for (const char* want : {"(1, 214)", "<Type: 'float32'>", "1", "False"}) {
        ASSERT_EQ(python.read_line(line, 120, 1000), Subprocess::Read::line) << python.last_error_line();
        EXPECT_EQ(line, want);
    }
    EXPECT_EQ(python.finish(60).code, 0) << python.last_error_line();
}

}  // namespace
}  // namespace headway
