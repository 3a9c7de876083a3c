// ONNX Runtime's builder on benchmark models: several inputs and outputs, open shapes, sub-graphs. Needs the models and
// data that tools/test makes; skipped without them.
#include <gtest/gtest.h>

#include <filesystem>

#include "onnxruntime/fixture.h"
#include "tensor/compare.h"
#include "tensor/tensor_proto.h"

namespace headway {
namespace {

// As for our own fp32 engines, see tests/models.
constexpr double most_rel_l2 = 1e-4;

class OnnxRuntimeModels : public testing::OnnxRuntimeTest {
protected:
    void open(const std::string& model, const std::string& profile) {
        OpenRequest request;
        request.model = std::string(HEADWAY_MODELS) + "/" + model + ".onnx";
        request.threads = 2;
        sample_ = std::string(HEADWAY_DATA) + "/" + model + "/" + profile + "/tuning/test_data_set_0";
        request.timing_data = sample_;
        if (!std::filesystem::exists(request.model) || !std::filesystem::exists(sample_))
            GTEST_SKIP() << "no models or data: tools/test fetches and makes them";
        builder_->open(request);
    }

    static Tensor read(const std::string& path) {
        const auto file = std::make_shared<const std::string>(read_file(path));
        return read_tensor_proto(*file, file).tensor;
    }

    void expect_agreement(const std::string& route) {
        builder_->build(route, path("e.hwe"), "");
        builder_->load(path("e.hwe"), 1);
        builder_->run(path("e.hwe"), 2, 0);
        builder_->check(path("e.hwe"), sample_, path("out"));
        size_t outputs = 0;
        for (;; ++outputs) {
            const std::string name = "/output_" + std::to_string(outputs) + ".pb";
            if (!std::filesystem::exists(sample_ + name)) break;
            EXPECT_LE(compare_tensors(read(path("out") + name), read(sample_ + name), 0, 0).rel_l2, most_rel_l2)
                << route << name;
        }
        EXPECT_GT(outputs, 0u);
    }

    std::string sample_;
};

TEST_F(OnnxRuntimeModels, Magika) {
    open("magika", "b1");
    if (!IsSkipped()) expect_agreement("");
}

TEST_F(OnnxRuntimeModels, SileroWithItsStateAndBranches) {
    open("silero-vad", "b1_16k");
    if (!IsSkipped()) expect_agreement("");
}

TEST_F(OnnxRuntimeModels, MinilmWithOpenExtentsBound) {
    open("minilm-l3", "b1_s128");
    if (IsSkipped()) return;
    const std::string standard = fingerprint("");
    EXPECT_NE(fingerprint("graph.free_dimensions=bound"), standard);
    expect_agreement("graph.free_dimensions=bound");
}

// Convolutions in the blocked layout come out of ONNX Runtime in another order each time.
TEST_F(OnnxRuntimeModels, ADetectorHasOneFingerprint) {
    open("ppocr4-det", "b1_320x320");
    if (IsSkipped()) return;
    const std::string standard = fingerprint("");
    for (int k = 0; k < 3; ++k) EXPECT_EQ(fingerprint(""), standard);
    expect_agreement("");
}

}  // namespace
}  // namespace headway
