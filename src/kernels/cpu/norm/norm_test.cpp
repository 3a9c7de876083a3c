#include "kernels/cpu/norm/norm.h"

#include <gtest/gtest.h>

#include "kernels/kernel_testing.h"

namespace headway {
namespace {

using Index = std::vector<int64_t>;

const Kernel softmax_emulated512{softmax_fields("emulated512", Isa::avx2, emulated512::norm_ops)};
const Kernel layer_norm_emulated512{layer_norm_fields("emulated512", Isa::avx2, emulated512::norm_ops)};

// Softmax over one axis, or from that axis on for opsets below 13.
std::vector<double> softmax(const Shape& shape, size_t axis, bool flattens, bool logarithm,
                            const std::vector<float>& values) {
    const int64_t inner = flattens ? 1 : shape.elements(axis + 1, shape.rank());
    const int64_t extent = flattens ? shape.elements(axis, shape.rank()) : shape[axis];
    std::vector<double> result(values.begin(), values.end());
    for (int64_t o = 0; o < shape.elements(0, axis); ++o)
        for (int64_t i = 0; i < inner; ++i) {
            const auto at = [&](int64_t k) -> double& {
                return result[static_cast<size_t>((o * extent + k) * inner + i)];
            };
            double most = -INFINITY, total = 0;
            for (int64_t k = 0; k < extent; ++k) most = std::max(most, at(k));
            for (int64_t k = 0; k < extent; ++k) total += std::exp(at(k) - most);
            for (int64_t k = 0; k < extent; ++k)
                at(k) = logarithm ? at(k) - most - std::log(total) : std::exp(at(k) - most) / total;
        }
    return result;
}

void check(const Shape& shape, int64_t axis, Layout layout = Layout::plain, int version = 13, float masked = 0) {
    std::vector<float> values = testing::random_floats(shape.elements(), 4, -8, 8);
    for (size_t i = 0; i < values.size() && masked != 0; i += 3) values[i] = masked;
    const auto at = static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(shape.rank()) : axis);
    for (const char* op : {"Softmax", "LogSoftmax"})
        for (const char* form : {"stored", "online"})
            for (const bool in_place : {false, true}) {
                testing::KernelCase test;
                test.problem.op = op;
                test.problem.version = version;
                test.problem.attributes.set("axis", axis);
                test.choices.set("softmax.form", form);
                test.add_src(testing::f32(shape, layout), values);
                test.problem.dst = {testing::f32(shape, layout)};
                test.in_place_src = in_place ? 0 : -1;
                const std::vector<double> want =
                    softmax(shape, at, version < 13, std::string(op) == "LogSoftmax", values);
                for (const Kernel* kernel : testing::kernels_for(op))
                    testing::expect_near(testing::run_kernel<float>(*kernel, test), want, 3e-6, 2e-6,
                                         std::string(kernel->name()) + " " + form + " " + test.problem.text());
            }
}

TEST(Softmax, AxesAndLayouts) {
    for (int64_t n : {1, 7, 8, 17, 100, 6625}) check({3, n}, -1);
    check({2, 5, 37}, 1);
    check({2, 5, 37}, 0);
    check({2, 3, 4, 300}, 1);
    check({2, 10, 4, 5}, 1, Layout::nhwc);
    check({2, 10, 4, 5}, 3, Layout::nhwc);
    check({2, 3, 4, 5}, 2, Layout::plain, 11);
    check({0, 4}, 1);
    check({4}, 0);
}

TEST(Softmax, MasksGiveZero) { check({5, 61}, 1, Layout::plain, 13, -INFINITY); }

TEST(Softmax, RowsWithoutANumberAreNan) {
    for (const float value : {-INFINITY, INFINITY, NAN})
        for (const char* form : {"stored", "online"}) {
            testing::KernelCase test;
            test.problem.op = "Softmax";
            test.problem.version = 13;
            test.choices.set("softmax.form", form);
            test.add_src(testing::f32({1, 19}), std::vector<float>(19, value));
            test.problem.dst = {testing::f32({1, 19})};
            for (const Kernel* kernel : testing::kernels_for("Softmax"))
                EXPECT_TRUE(std::isnan(testing::run_kernel<float>(*kernel, test)[18]))
                    << kernel->name() << " " << form << value;
        }
}

void check_layer_norm(const Shape& shape, int64_t axis, bool shifted, float mean, bool constant) {
    std::vector<float> values = testing::random_floats(shape.elements(), 5);
    for (float& value : values) value += mean;
    const auto first = static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(shape.rank()) : axis);
    const Shape row(std::vector<int64_t>(shape.begin() + static_cast<ptrdiff_t>(first), shape.end()));
    const auto n = static_cast<size_t>(row.elements());
    const std::vector<float> scale = testing::random_floats(row.elements(), 6),
                             shift = testing::random_floats(row.elements(), 7);
    std::vector<double> want;
    for (size_t r = 0; n > 0 && r < values.size() / n; ++r) {
        double sum = 0, squares = 0;
        for (size_t i = 0; i < n; ++i) sum += values[r * n + i];
        for (size_t i = 0; i < n; ++i) squares += std::pow(values[r * n + i] - sum / static_cast<double>(n), 2);
        const double factor = 1 / std::sqrt(squares / static_cast<double>(n) + 1e-3F);
        for (size_t i = 0; i < n; ++i)
            want.push_back((values[r * n + i] - sum / static_cast<double>(n)) * factor * scale[i] +
                           (shifted ? shift[i] : 0));
    }
    for (const char* form : {"two_pass", "one_pass"}) {
        testing::KernelCase test;
        test.problem.op = "LayerNormalization";
        test.problem.version = 17;
        test.problem.attributes.set("axis", axis);
        test.problem.attributes.set("epsilon", 1e-3F);
        test.choices.set("layer_norm.moments", form);
        test.add_src(testing::f32(shape), values);
        test.add_src(testing::f32(row), scale, constant);
        if (shifted) test.add_src(testing::f32(row), shift, constant);
        test.problem.dst = {testing::f32(shape)};
        for (const Kernel* kernel : testing::kernels_for("LayerNormalization"))
            testing::expect_near(testing::run_kernel<float>(*kernel, test), want, 1e-5, 1e-5 + std::fabs(mean) * 1e-6,
                                 std::string(kernel->name()) + " " + form);
    }
}

TEST(LayerNorm, RowsOfAnyLength) {
    for (int64_t n : {1, 3, 17, 120, 384}) {
        check_layer_norm({5, n}, -1, true, 0, true);
        check_layer_norm({5, n}, -1, false, 3, false);
    }
    check_layer_norm({2, 3, 4, 5}, 2, true, 0, true);
    check_layer_norm({2, 0}, 1, true, 0, true);
    check_layer_norm({3, 100}, 1, true, 1000, true);
}

}  // namespace
}  // namespace headway
