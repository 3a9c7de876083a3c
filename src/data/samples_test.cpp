#include "data/samples.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <limits>

#include "base/error.h"
#include "base/file.h"
#include "data/npy.h"
#include "tensor/random.h"

namespace headway {
namespace {

namespace fs = std::filesystem;

class Samples : public testing::Test {
protected:
    void SetUp() override {
        std::string pattern = testing::TempDir() + "headway_samples_XXXXXX";
        folder_ = mkdtemp(pattern.data());
    }
    void TearDown() override { fs::remove_all(folder_); }

    std::string error_of(const RawSample& raw) const {
        try {
            match_sample(raw, inputs_, outputs_);
        } catch (const UserError& error) {
            return error.what();
        }
        return "";
    }

    static Tensor floats(Shape shape, uint64_t seed = 1) { return random_tensor(ElementType::f32, shape, seed); }

    std::string folder_;
    std::vector<PortSpec> inputs_ = {{"x", ElementType::f32, std::vector<int64_t>{-1, 3}, {}},
                                     {"ids", ElementType::i64, std::vector<int64_t>{2}, {}}};
    std::vector<PortSpec> outputs_ = {{"y", ElementType::f32, {}, {}}};
    NamedTensor x_{"x", floats(Shape{4, 3})};
    NamedTensor ids_{"ids", random_tensor(ElementType::i64, Shape{2}, 2)};
    NamedTensor y_{"y", floats(Shape{4})};
};

TEST_F(Samples, ReadsOnnxTestDataInNaturalOrder) {
    for (const int k : {10, 2, 1}) {
        const NamedTensor x{"", floats(Shape{k, 3})};
        write_sample(folder_ + "/test_data_set_" + std::to_string(k), std::vector{x, ids_}, std::vector{y_});
    }
    const std::vector<Sample> samples = load_samples(folder_, inputs_, outputs_);
    ASSERT_EQ(samples.size(), 3U);
    EXPECT_EQ(samples[0].inputs[0].shape(), (Shape{1, 3}));
    EXPECT_EQ(samples[2].inputs[0].shape(), (Shape{10, 3}));
    EXPECT_EQ(samples[0].outputs.size(), 1U);
    EXPECT_EQ(load_samples(folder_ + "/test_data_set_2", inputs_, outputs_).size(), 1U);
}

TEST_F(Samples, MatchesByNameWhereAllNamesAreKnown) {
    write_sample(folder_, std::vector{ids_, x_}, {});
    const Sample sample = load_samples(folder_, inputs_, outputs_)[0];
    EXPECT_EQ(sample.inputs[0].hash(), x_.tensor.hash());
    EXPECT_TRUE(sample.outputs.empty());
}

TEST_F(Samples, ReadsArchivesByName) {
    write_file_atomically(folder_ + "/b.npz", write_npz(std::vector{y_, ids_, x_}));
    write_file_atomically(folder_ + "/a.npz", write_npz(std::vector{x_, ids_}));
    const std::vector<Sample> samples = load_samples(folder_, inputs_, outputs_);
    ASSERT_EQ(samples.size(), 2U);
    EXPECT_TRUE(samples[0].outputs.empty());
    EXPECT_EQ(samples[1].outputs[0].hash(), y_.tensor.hash());
    EXPECT_EQ(load_samples(folder_ + "/a.npz", inputs_, outputs_).size(), 1U);
}

TEST_F(Samples, SaysWhatDoesNotFit) {
    EXPECT_EQ(error_of({"s", {x_}, {}, false}), "s: input \"ids\" is missing");
    EXPECT_EQ(error_of({"s", {x_, ids_, y_}, {}, false}), "s: 3 inputs, but the model has 2");
    EXPECT_EQ(error_of({"s", {x_, {"odd", ids_.tensor}}, {}, true}),
              "s: \"odd\" is no input or output of the model; its inputs: \"x\", \"ids\"; outputs: \"y\"");
    EXPECT_EQ(error_of({"s", {{"", random_tensor(ElementType::f64, Shape{4, 3}, 1)}, ids_}, {}, false}),
              "s: input \"x\" is f64, the model has f32");
    EXPECT_EQ(error_of({"s", {{"", floats(Shape{4, 2})}, ids_}, {}, false}),
              "s: input \"x\" has shape 4x2, the model has ?x3");
    EXPECT_EQ(error_of({"s", {x_, x_}, {}, false}), "s: two tensors are named \"x\"");
    EXPECT_EQ(error_of({"s", {x_, ids_}, {y_, y_}, false}), "s: two tensors are named \"y\"");
    NamedTensor bad{"x", Tensor(ElementType::f32, Shape{1, 3})};
    bad.tensor.set(2, std::nan(""));
    EXPECT_EQ(error_of({"s", {bad, ids_}, {}, false}), "s: input \"x\" holds NaN at element 2");
    bad.tensor.set(2, -std::numeric_limits<double>::infinity());
    EXPECT_EQ(error_of({"s", {bad, ids_}, {}, false}), "") << "masks are made of infinities";
}

TEST_F(Samples, AFixedInputMayBeLeftOutButNotChanged) {
    inputs_[1].value = ids_.tensor;
    EXPECT_EQ(match_sample({"s", {x_}, {}, false}, inputs_, outputs_).inputs[1].hash(), ids_.tensor.hash());
    const NamedTensor other{"ids", Tensor(ElementType::i64, Shape{2})};
    EXPECT_NE(error_of({"s", {x_, other}, {}, false}).find("another value"), std::string::npos);
}

TEST_F(Samples, SaysWhatCannotBeRead) {
    EXPECT_THROW(read_samples(folder_), UserError) << "an empty folder";
    EXPECT_THROW(read_samples(folder_ + "/absent"), UserError);
    write_file_atomically(folder_ + "/input_0.pb", "garbage");
    EXPECT_THROW(read_samples(folder_), UserError);
    EXPECT_THROW(read_samples(folder_ + "/input_0.pb"), UserError);
}

TEST_F(Samples, GeneratesTheSameInputsEveryTime) {
    EXPECT_THROW(generate_samples(inputs_, 1, 0), UserError);
    inputs_[0].dims = std::vector<int64_t>{64, 64};
    const std::vector<Sample> a = generate_samples(inputs_, 2, 5), b = generate_samples(inputs_, 2, 5);
    EXPECT_EQ(a[0].hash(), b[0].hash());
    EXPECT_NE(a[0].hash(), a[1].hash());
    EXPECT_NE(a[0].hash(), generate_samples(inputs_, 1, 6)[0].hash());
    double sum = 0, squares = 0;
    for (const float value : a[0].inputs[0].data<float>()) sum += value, squares += double{value} * value;
    EXPECT_NEAR(sum / 4096, 0, 0.1);
    EXPECT_NEAR(squares / 4096, 1, 0.1);
    for (const int64_t id : a[0].inputs[1].to_int64()) EXPECT_TRUE(id >= 0 && id < 8);
}

TEST_F(Samples, EveryThirdDifferentSampleIsHeldOut) {
    std::vector<Sample> samples;
    for (uint64_t seed = 0; seed < 7; ++seed) samples.push_back({"s", {floats(Shape{2}, seed)}, {}});
    const Split split = split_samples(samples);
    EXPECT_EQ(split.heldout.size(), 2U);
    EXPECT_EQ(split.tuning.size(), 5U);
    std::vector<Sample> shuffled(samples.rbegin(), samples.rend());
    const Split other = split_samples(shuffled);
    EXPECT_EQ(shuffled[other.heldout[0]].hash(), samples[split.heldout[1]].hash()) << "order does not decide";
    samples.push_back(samples[split.heldout[0]]);
    EXPECT_EQ(split_samples(samples).heldout.size(), 3U) << "equal inputs stay together";
    EXPECT_TRUE(split_samples(std::span(samples).first(2)).heldout.empty());
}

}  // namespace
}  // namespace headway
