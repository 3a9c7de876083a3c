// Running one operator in a test: run_op("Add", 13, {a, b}), run_op("Conv", 11, {x, w}, {{"pads", ints({1, 1})}}),
// run_op("com.microsoft/Gelu", 1, {x}).
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <initializer_list>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "ops/op.h"

namespace headway::testing {

inline constexpr float nan_f = std::numeric_limits<float>::quiet_NaN();
inline constexpr float inf_f = std::numeric_limits<float>::infinity();

inline Tensor f32(Shape shape, std::vector<float> values) { return Tensor::of<float>(std::move(shape), values); }
inline Tensor i64(Shape shape, std::vector<int64_t> values) { return Tensor::of<int64_t>(std::move(shape), values); }
inline Tensor i64(std::vector<int64_t> values) { return i64(Shape{static_cast<int64_t>(values.size())}, values); }
// Any type, from numbers.
inline Tensor of_type(ElementType type, Shape shape, std::vector<double> values) {
    Tensor tensor(type, std::move(shape));
    for (size_t i = 0; i < values.size(); ++i) tensor.set(static_cast<int64_t>(i), values[i]);
    return tensor;
}
// start, start + step, ...
inline Tensor ramp(Shape shape, float start = 0, float step = 1) {
    std::vector<float> values(static_cast<size_t>(shape.elements()));
    for (size_t i = 0; i < values.size(); ++i) values[i] = start + step * static_cast<float>(i);
    return f32(std::move(shape), std::move(values));
}
inline std::vector<int64_t> ints(std::vector<int64_t> values) { return values; }

using NamedAttributes = std::vector<std::pair<std::string, AttributeValue>>;

// All outputs of one node; a tensor of type undefined stands for an absent input.
inline std::vector<Tensor> run_op(const std::string& op, int version, const std::vector<Tensor>& inputs,
                                  const NamedAttributes& attributes = {}, size_t outputs = 1) {
    Node node;
    const size_t slash = op.find('/');  // npos + 1 is 0
    node.op = op.substr(slash + 1);
    node.domain = slash == std::string::npos ? "" : op.substr(0, slash);
    node.version = version;
    node.origins = {op};
    for (const auto& [name, value] : attributes) node.attributes.set(name, value);
    std::vector<const Tensor*> pointers;
    for (const Tensor& input : inputs) {
        node.inputs.push_back(static_cast<ValueId>(node.inputs.size()));
        pointers.push_back(input.type() == ElementType::undefined ? nullptr : &input);
    }
    for (size_t i = 0; i < outputs; ++i) node.outputs.push_back(static_cast<ValueId>(i));
    static const Registry<Op> ops = declared<Op>();
    return run_reference(node, pointers, ops);
}

inline void expect_values(const Tensor& got, const Shape& shape, const std::vector<double>& want,
                          double tolerance = 1e-5) {
    ASSERT_EQ(got.shape().text(), shape.text());
    ASSERT_EQ(got.elements(), static_cast<int64_t>(want.size()));
    for (size_t i = 0; i < want.size(); ++i) {
        const double value = got.at(static_cast<int64_t>(i));
        if (std::isnan(want[i])) {
            EXPECT_TRUE(std::isnan(value)) << "element " << i << " is " << value;
        } else if (std::isinf(want[i])) {
            EXPECT_EQ(value, want[i]) << "element " << i;
        } else {
            EXPECT_NEAR(value, want[i], tolerance * (1 + std::fabs(want[i]))) << "element " << i;
        }
    }
}

}  // namespace headway::testing
