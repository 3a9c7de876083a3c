#include "kernels/cpu/pool/pool.h"

#include <gtest/gtest.h>

#include "kernels/kernel_testing.h"

namespace headway {
namespace {

using Index = std::vector<int64_t>;

const Kernel pool_emulated512{
    pool_fields("emulated512", Isa::avx2, {emulated512::reduce_ops, emulated512::pool_ops, emulated512::tile_ops})};

struct Case {
    std::string op;
    Shape shape;
    Index kernel, strides, pads, dilations;
    bool count_pad = false, ceil = false;
};

int64_t pooled(int64_t in, int64_t kernel, int64_t stride, int64_t pad, int64_t dilation, int64_t begin, bool ceil) {
    const int64_t span = in + pad - (kernel - 1) * dilation - 1;
    const int64_t out = (ceil ? ceil_div(span, stride) : span / stride) + 1;
    return ceil && (out - 1) * stride >= in + begin ? out - 1 : out;
}

Shape result_shape(const Case& given) {
    Shape result = given.shape;
    const size_t axes = given.kernel.size();
    for (size_t i = 0; i < axes; ++i)
        result[i + 2] = pooled(given.shape[i + 2], given.kernel[i], given.strides[i],
                               given.pads[i] + given.pads[axes + i], given.dilations[i], given.pads[i], given.ceil);
    return result;
}

std::vector<double> expected(const Case& given, const std::vector<float>& values) {
    const size_t axes = given.kernel.size();
    std::vector<double> want;
    testing::for_each_index(result_shape(given), [&](const Index& index, int64_t) {
        double most = -INFINITY, sum = 0, counted = 0;
        testing::for_each_index(Shape(given.kernel), [&](const Index& tap, int64_t) {
            Index at = index;
            bool inside = true, padded = true;
            for (size_t i = 0; i < axes; ++i) {
                at[i + 2] = index[i + 2] * given.strides[i] - given.pads[i] + tap[i] * given.dilations[i];
                inside = inside && at[i + 2] >= 0 && at[i + 2] < given.shape[i + 2];
                padded = padded && at[i + 2] < given.shape[i + 2] + given.pads[axes + i];
            }
            if (inside || (given.count_pad && padded)) counted += 1;
            if (!inside) return;
            int64_t offset = 0;
            for (size_t i = 0; i < at.size(); ++i) offset = offset * given.shape[i] + at[i];
            const double value = values[static_cast<size_t>(offset)];
            most = std::max(most, value);
            sum += value;
        });
        want.push_back(given.op == "MaxPool" ? most : sum / counted);
    });
    return want;
}

void check(const Case& given) {
    const std::vector<float> values = testing::random_floats(given.shape.elements(), 8);
    for (Layout layout : {Layout::plain, Layout::nhwc, Layout::nchw8c, Layout::nchw16c})
        for (const bool epilogue : {false, true}) {
            testing::KernelCase test;
            test.problem.op = given.op;
            test.problem.attributes.set("kernel_shape", given.kernel);
            test.problem.attributes.set("strides", given.strides);
            test.problem.attributes.set("pads", given.pads);
            if (given.op == "MaxPool") test.problem.attributes.set("dilations", given.dilations);
            test.problem.attributes.set("count_include_pad", static_cast<int64_t>(given.count_pad));
            test.problem.attributes.set("ceil_mode", static_cast<int64_t>(given.ceil));
            test.add_src(testing::f32(given.shape, layout), values);
            test.problem.dst = {testing::f32(result_shape(given), layout)};
            std::vector<double> want = expected(given, values);
            if (epilogue) {
                test.problem.epilogue = Program::parse("r1=load 0; r0=add r0 r1; r0=relu r0 -> r0");
                test.add_operand(testing::f32({}), std::vector<float>{0.25F});
                for (double& value : want) value = std::max(0.0, value + 0.25);
            }
            for (const Kernel* kernel : testing::kernels_for(given.op))
                testing::expect_near(testing::run_kernel<float>(*kernel, test), want, 1e-5, 1e-5,
                                     std::string(kernel->name()) + " " + test.problem.text());
        }
}

TEST(Pool, WindowsStridesAndPads) {
    for (const char* op : {"MaxPool", "AveragePool"})
        for (int64_t channels : {1, 3, 17, 24}) {
            check({op, {2, channels, 13, 19}, {3, 3}, {2, 2}, {1, 1, 1, 1}, {1, 1}});
            check({op, {1, channels, 9, 18}, {2, 2}, {2, 2}, {0, 0, 0, 0}, {1, 1}});
        }
    for (const char* op : {"MaxPool", "AveragePool"}) {
        check({op, {1, 8, 11, 26}, {5, 5}, {1, 1}, {2, 2, 2, 2}, {1, 1}});
        check({op, {1, 5, 7, 33}, {3, 2}, {3, 1}, {0, 1, 2, 0}, {1, 1}});
        check({op, {2, 6, 21}, {3}, {2}, {1, 1}, {1}});
        check({op, {1, 6, 8, 23}, {3, 3}, {1, 4}, {1, 1, 1, 1}, {1, 1}});
    }
    check({"MaxPool", {1, 9, 12, 21}, {3, 3}, {1, 1}, {2, 2, 2, 2}, {2, 2}});
    check({"MaxPool", {1, 9, 12, 21}, {2, 3}, {2, 2}, {1, 0, 0, 2}, {1, 2}});
}

TEST(Pool, CeilAndCountedPads) {
    for (const bool ceil : {false, true})
        for (const bool count_pad : {false, true}) {
            check({"AveragePool", {1, 9, 10, 15}, {3, 3}, {2, 2}, {1, 1, 1, 1}, {1, 1}, count_pad, ceil});
            check({"AveragePool", {1, 9, 10, 14}, {3, 4}, {2, 3}, {0, 1, 1, 0}, {1, 1}, count_pad, ceil});
            check({"MaxPool", {1, 9, 10, 15}, {3, 3}, {2, 2}, {0, 0, 0, 0}, {1, 1}, false, ceil});
        }
}

TEST(Pool, ManyTiles) { check({"MaxPool", {2, 24, 40, 50}, {3, 3}, {2, 2}, {1, 1, 1, 1}, {1, 1}}); }

TEST(Pool, SameUpperAndLower) {
    for (const char* mode : {"SAME_UPPER", "SAME_LOWER"}) {
        const int64_t begin = std::string(mode) == "SAME_UPPER" ? 0 : 1;
        const Case same{"MaxPool", {1, 3, 8, 8}, {2, 2}, {1, 1}, {begin, begin, 1 - begin, 1 - begin}, {1, 1}};
        const std::vector<float> values = testing::random_floats(same.shape.elements(), 8);
        testing::KernelCase test;
        test.problem.op = "MaxPool";
        test.problem.attributes.set("kernel_shape", same.kernel);
        test.problem.attributes.set("auto_pad", std::string(mode));
        test.add_src(testing::f32(same.shape), values);
        test.problem.dst = {testing::f32(same.shape)};
        for (const Kernel* kernel : testing::kernels_for("MaxPool"))
            testing::expect_near(testing::run_kernel<float>(*kernel, test), expected(same, values), 0, 0, mode);
    }
}

TEST(Pool, NanWins) {
    for (Layout layout : {Layout::plain, Layout::nhwc}) {
        std::vector<float> values(64, 1);
        values[9] = NAN;
        testing::KernelCase test;
        test.problem.op = "MaxPool";
        test.problem.attributes.set("kernel_shape", Index{2, 2});
        test.problem.attributes.set("strides", Index{2, 2});
        test.add_src(testing::f32({1, 1, 8, 8}, layout), values);
        test.problem.dst = {testing::f32({1, 1, 4, 4}, layout)};
        for (const Kernel* kernel : testing::kernels_for("MaxPool")) {
            const std::vector<float> got = testing::run_kernel<float>(*kernel, test);
            EXPECT_TRUE(std::isnan(got[0])) << kernel->name();
            EXPECT_EQ(got[1], 1) << kernel->name();
        }
    }
}

}  // namespace
}  // namespace headway
