#include "kernels/cpu/resize/resize.h"

#include <gtest/gtest.h>

#include "kernels/kernel_testing.h"

namespace headway {
namespace {

using Index = std::vector<int64_t>;

const Kernel resize_emulated512{
    resize_fields("emulated512", Isa::avx2, {emulated512::resize_ops, emulated512::tile_ops})};

struct Case {
    std::string mode, coordinates, nearest;
    Shape from, to;
};

// Weights of the input positions for one output position, straight from the operator's text.
std::vector<double> weights(const Case& given, int64_t in, int64_t out, int64_t o) {
    const double scale = static_cast<double>(out) / static_cast<double>(in), x = static_cast<double>(o);
    double position = (x + 0.5) / scale - 0.5;
    if (given.coordinates == "asymmetric") position = x / scale;
    if (given.coordinates == "align_corners")
        position = out == 1 ? 0 : x * static_cast<double>(in - 1) / static_cast<double>(out - 1);
    if (given.coordinates == "pytorch_half_pixel" && out == 1) position = -0.5;
    std::vector<double> result(static_cast<size_t>(in));
    const auto add = [&](double at, double weight) {
        result[static_cast<size_t>(std::clamp(at, 0.0, static_cast<double>(in - 1)))] += weight;
    };
    if (given.mode == "linear") {
        const double left = std::floor(position);
        add(left, 1 - (position - left));
        add(left + 1, position - left);
    } else if (given.nearest == "floor")
        add(std::floor(position), 1);
    else if (given.nearest == "ceil")
        add(std::ceil(position), 1);
    else if (given.nearest == "round_prefer_ceil")
        add(std::floor(position + 0.5), 1);
    else
        add(std::ceil(position - 0.5), 1);
    return result;
}

std::vector<double> expected(const Case& given, const std::vector<float>& values) {
    const bool image = given.from.rank() == 4;
    const int64_t h = image ? given.from[2] : 1, w = given.from.back();
    std::vector<double> want;
    testing::for_each_index(given.to, [&](const Index& index, int64_t) {
        const std::vector<double> y = image ? weights(given, h, given.to[2], index[2]) : std::vector<double>{1};
        const std::vector<double> x = weights(given, w, given.to.back(), index.back());
        double sum = 0;
        for (int64_t i = 0; i < h; ++i)
            for (int64_t j = 0; j < w; ++j)
                sum += y[static_cast<size_t>(i)] * x[static_cast<size_t>(j)] *
                       values[static_cast<size_t>(((index[0] * given.from[1] + index[1]) * h + i) * w + j)];
        want.push_back(sum);
    });
    return want;
}

void check(const Case& given) {
    const std::vector<float> values = testing::random_floats(given.from.elements(), 11);
    for (Layout layout : {Layout::plain, Layout::nhwc, Layout::nchw8c, Layout::nchw16c})
        for (const bool epilogue : {false, true}) {
            testing::KernelCase test;
            test.problem.op = "Resize";
            test.problem.version = 13;
            test.problem.attributes.set("mode", given.mode);
            test.problem.attributes.set("coordinate_transformation_mode", given.coordinates);
            test.problem.attributes.set("nearest_mode", given.nearest);
            test.add_src(testing::f32(given.from, layout), values);
            test.problem.dst = {testing::f32(given.to, layout)};
            std::vector<double> want = expected(given, values);
            if (epilogue) {
                test.problem.epilogue = Program::parse("r1=load 0; r0=add r0 r1 -> r0");
                const std::vector<float> shift = testing::random_floats(given.from[1], 12);
                test.add_operand(
                    testing::f32(given.from.rank() == 4 ? Shape{given.from[1], 1, 1} : Shape{given.from[1], 1}), shift);
                const int64_t pixels = given.to.elements(2, given.to.rank());
                for (size_t i = 0; i < want.size(); ++i)
                    want[i] += shift[i / static_cast<size_t>(pixels) % shift.size()];
            }
            for (const Kernel* kernel : testing::kernels_for("Resize"))
                testing::expect_near(testing::run_kernel<float>(*kernel, test), want, 2e-6, 2e-6,
                                     std::string(kernel->name()) + " " + given.coordinates + " " + given.nearest + " " +
                                         test.problem.text());
        }
}

TEST(Resize, NearestModes) {
    for (const char* coordinates : {"asymmetric", "half_pixel", "align_corners", "pytorch_half_pixel"})
        for (const char* nearest : {"floor", "ceil", "round_prefer_floor", "round_prefer_ceil"}) {
            check({"nearest", coordinates, nearest, {1, 3, 5, 7}, {1, 3, 10, 14}});
            check({"nearest", coordinates, nearest, {1, 3, 6, 8}, {1, 3, 4, 13}});
        }
}

TEST(Resize, WholeFactors) {
    for (int64_t factor : {2, 3, 4, 8})
        check({"nearest", "asymmetric", "floor", {2, 17, 3, 5}, {2, 17, 3 * factor, 5 * factor}});
    check({"nearest", "asymmetric", "floor", {1, 6, 9}, {1, 6, 18}});
    check({"nearest", "asymmetric", "floor", {1, 24, 20, 24}, {1, 24, 80, 96}});
}

TEST(Resize, Linear) {
    for (const char* coordinates : {"asymmetric", "half_pixel", "align_corners", "pytorch_half_pixel"}) {
        check({"linear", coordinates, "floor", {2, 19, 5, 7}, {2, 19, 10, 14}});
        check({"linear", coordinates, "floor", {1, 3, 6, 8}, {1, 3, 4, 13}});
        check({"linear", coordinates, "floor", {1, 3, 1, 8}, {1, 3, 1, 16}});
    }
}

TEST(Resize, Refusals) {
    Problem problem;
    problem.op = "Resize";
    problem.version = 13;
    problem.src = {testing::f32({1, 3, 4, 4}), std::nullopt, testing::f32({4})};
    problem.constant = {false, false, false};
    problem.dst = {testing::f32({1, 3, 8, 8})};
    const auto reason = [&] { return resize_emulated512.supports(problem, Target::native(), {}).reason; };
    EXPECT_EQ(reason(), Reason::needs_constant);
    problem.attributes.set("src2", std::vector<float>{1, 1, 2, 2});
    EXPECT_EQ(reason(), Reason::none);
    problem.attributes.set("src2", std::vector<float>{1, 2, 2, 2});
    EXPECT_EQ(reason(), Reason::shape);
    problem.attributes.set("src2", std::vector<float>{1, 1, 2, 2});
    problem.attributes.set("mode", std::string("cubic"));
    EXPECT_EQ(reason(), Reason::attribute);
}

}  // namespace
}  // namespace headway
