#include "data/batch.h"

#include <gtest/gtest.h>

namespace headway {
namespace {

Tensor row(std::vector<float> values) {
    const auto count = static_cast<int64_t>(values.size());
    return Tensor::of<float>(Shape{1, count}, values);
}

Sample sample(float value, float rate = 16000) {
    return {"s", {row({value, value + 0.5f}), Tensor::scalar(rate)}, {row({10 * value})}};
}

std::vector<float> floats(const Tensor& tensor) { return {tensor.data<float>().begin(), tensor.data<float>().end()}; }

TEST(Batch, JoinsAlongTheFirstAxisAndStartsAgainAtTheEnd) {
    const std::vector<Sample> samples{sample(1), sample(2), sample(3)};
    const std::vector<Sample> batches = batch_samples(samples, 2);
    ASSERT_EQ(batches.size(), 3u);
    EXPECT_EQ(batches[0].inputs[0].shape(), (Shape{2, 2}));
    EXPECT_EQ(floats(batches[0].inputs[0]), (std::vector<float>{1, 1.5, 2, 2.5}));
    EXPECT_EQ(floats(batches[2].inputs[0]), (std::vector<float>{3, 3.5, 1, 1.5}));
    EXPECT_EQ(floats(batches[2].outputs[0]), (std::vector<float>{30, 10}));
    EXPECT_EQ(floats(batches[0].inputs[1]), std::vector<float>{16000}) << "a scalar stays";
}

TEST(Batch, MoreThanThereAreSamples) {
    const std::vector<Sample> one{sample(1)};
    EXPECT_EQ(floats(batch_samples(one, 3)[0].outputs[0]), (std::vector<float>{10, 10, 10}));
}

TEST(Batch, WhatDoesNotFitIsRefused) {
    EXPECT_THROW(batch_samples(std::vector<Sample>{sample(1), sample(2, 8000)}, 2), UserError) << "another scalar";
    Sample longer = sample(2);
    longer.inputs[0] = row({1, 2, 3});
    EXPECT_THROW(batch_samples(std::vector<Sample>{sample(1), longer}, 2), UserError);
    Sample scalar = sample(2);
    scalar.inputs[0] = Tensor::scalar(1.0f);
    EXPECT_THROW(batch_samples(std::vector<Sample>{sample(1), scalar}, 2), UserError);
}

TEST(Batch, FirstBatchOfRawSamples) {
    RawSample a{"a", {{"x", row({1, 2})}}, {{"y", row({9})}}, false}, b = a;
    b.inputs[0].tensor = row({3, 4});
    const RawSample joined = batch_first(std::vector<RawSample>{a, b}, 2);
    EXPECT_EQ(floats(joined.inputs[0].tensor), (std::vector<float>{1, 2, 3, 4}));
    EXPECT_TRUE(joined.outputs.empty());
}

}  // namespace
}  // namespace headway
