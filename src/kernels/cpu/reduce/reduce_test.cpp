#include "kernels/cpu/reduce/reduce.h"

#include <gtest/gtest.h>

#include "kernels/kernel_testing.h"

namespace headway {
namespace {

using Index = std::vector<int64_t>;
constexpr Layout every_layout[] = {Layout::plain, Layout::nhwc, Layout::nchw8c, Layout::nchw16c};

const Kernel reduce_emulated512{
    reduce_fields("emulated512", Isa::avx2, {emulated512::reduce_ops, emulated512::tile_ops})};

double joined(const std::string& op, double total, double value) {
    if (op == "ReduceMax" || op == "GlobalMaxPool") return std::max(total, value);
    if (op == "ReduceMin") return std::min(total, value);
    if (op == "ReduceL1") return total + std::fabs(value);
    if (op == "ReduceL2" || op == "ReduceSumSquare") return total + value * value;
    return total + value;
}

double first_total(const std::string& op) {
    if (op == "ReduceMax" || op == "GlobalMaxPool") return -INFINITY;
    return op == "ReduceMin" ? INFINITY : 0;
}

std::vector<double> reduced(const std::string& op, const Shape& shape, const std::vector<bool>& gone,
                            const std::vector<float>& values) {
    Shape result = shape;
    double count = 1;
    for (size_t i = 0; i < shape.rank(); ++i)
        if (gone[i]) {
            count *= static_cast<double>(shape[i]);
            result[i] = 1;
        }
    std::vector<double> totals(static_cast<size_t>(result.elements()), first_total(op));
    testing::for_each_index(shape, [&](const Index& index, int64_t at) {
        int64_t to = 0;
        for (size_t i = 0; i < index.size(); ++i) to = to * result[i] + (gone[i] ? 0 : index[i]);
        double& total = totals[static_cast<size_t>(to)];
        total = joined(op, total, values[static_cast<size_t>(at)]);
    });
    for (double& total : totals) {
        if (op == "ReduceMean" || op == "GlobalAveragePool") total /= count;
        if (op == "ReduceL2") total = std::sqrt(total);
    }
    return totals;
}

struct Case {
    std::string op;
    Shape shape;
    std::vector<int64_t> axes;
    Layout layout = Layout::plain;
    Layout dst_layout = Layout::plain;
    bool keepdims = true;
    std::string epilogue = {};
};

void check(const Case& given) {
    const std::vector<float> values = testing::random_floats(given.shape.elements(), 3);
    std::vector<bool> gone(given.shape.rank(), false);
    for (int64_t axis : given.axes)
        gone[static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(given.shape.rank()) : axis)] = true;
    testing::KernelCase test;
    test.problem.op = given.op;
    if (given.op.rfind("Global", 0) != 0) {
        test.problem.attributes.set("axes", given.axes);
        test.problem.attributes.set("keepdims", static_cast<int64_t>(given.keepdims));
    }
    test.add_src(testing::f32(given.shape, given.layout), values);
    std::vector<int64_t> dims;
    for (size_t i = 0; i < given.shape.rank(); ++i)
        if (!gone[i])
            dims.push_back(given.shape[i]);
        else if (given.keepdims)
            dims.push_back(1);
    test.problem.dst = {testing::f32(Shape(dims), given.dst_layout)};
    std::vector<double> want = reduced(given.op, given.shape, gone, values);
    if (!given.epilogue.empty()) {
        test.problem.epilogue = Program::parse(given.epilogue);
        test.add_operand(testing::f32({}), std::vector<float>{1.5F});
        const double operand = 1.5;
        for (double& value : want) {
            double result = 0;
            evaluate(test.problem.epilogue, value, &operand, &result);
            value = result;
        }
    }
    const auto kernels = testing::kernels_for(given.op);
    ASSERT_FALSE(kernels.empty());
    for (const Kernel* kernel : kernels)
        testing::expect_near(testing::run_kernel<float>(*kernel, test), want, 1e-5, 2e-4,
                             std::string(kernel->name()) + " " + test.problem.text());
}

TEST(Reduce, EveryOperator) {
    for (const char* op :
         {"ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceL1", "ReduceL2", "ReduceSumSquare"}) {
        check({op, {3, 5, 37}, {-1}});
        check({op, {3, 5, 37}, {0}});
        check({op, {3, 5, 37}, {1}, Layout::plain, Layout::plain, false});
        check({op, {3, 5, 37}, {0, 1, 2}});
        check({op, {7, 13, 2}, {-1}});
        check({op, {4, 9000, 3}, {2}});
        check({op, {5, 16}, {1}, Layout::plain, Layout::plain, false, "r1=load 0; r0=mul r0 r1 -> r0"});
    }
}

TEST(Reduce, AxesThatAlternate) {
    check({"ReduceSum", {3, 4, 5, 6}, {0, 2}});
    check({"ReduceSum", {3, 4, 5, 6}, {1, 3}});
    check({"ReduceMax", {3, 4, 5, 6}, {0, 2, 3}, Layout::plain, Layout::plain, false});
    check({"ReduceMean", {2, 1, 1, 6}, {1, 2}});
    check({"ReduceSum", {7}, {0}, Layout::plain, Layout::plain, false});
    check({"ReduceSum", {0, 4}, {1}});
}

TEST(Reduce, GlobalPoolsInEveryLayout) {
    for (Layout layout : every_layout)
        for (int64_t channels : {1, 3, 17, 24, 96})
            for (const char* op : {"GlobalAveragePool", "GlobalMaxPool"}) {
                check({op, {2, channels, 7, 9}, {2, 3}, layout, layout});
                check({op,
                       {1, channels, 7, 9},
                       {2, 3},
                       layout,
                       layout,
                       true,
                       "r1=load 0; r0=mul r0 r1; r0=hard_sigmoid r0 0.2 0.5 -> r0"});
            }
    check({"GlobalAveragePool", {2, 16, 7, 9}, {2, 3}, Layout::nhwc, Layout::plain});
    check({"GlobalAveragePool", {2, 16, 7, 9}, {2, 3}, Layout::nchw8c, Layout::plain});
}

TEST(Reduce, ChannelsApart) {
    check({"ReduceMean", {2, 24, 5, 6}, {1}, Layout::nhwc, Layout::nhwc});
    check({"ReduceMean", {2, 24, 5, 6}, {2}, Layout::nhwc, Layout::nhwc});
    check({"ReduceMean", {2, 24, 5, 6}, {3}, Layout::nchw8c, Layout::nchw8c});
    check({"ReduceMean", {2, 24, 5, 6}, {0}, Layout::nchw8c, Layout::nchw8c});
    check({"ReduceMean", {2, 24, 5, 6}, {2, 3}, Layout::nhwc, Layout::plain, false});
}

TEST(Reduce, PiecesAndManyTiles) {
    check({"ReduceMean", {1, 24, 60, 70}, {2, 3}, Layout::nhwc, Layout::nhwc});
    check({"ReduceSum", {100003}, {0}});
    check({"ReduceMax", {2, 40000}, {1}});
    check({"ReduceSum", {30, 9001}, {0}});
    check({"ReduceSum", {700, 90}, {1}});
}

TEST(Reduce, NanIsTheLargestAndTheSmallest) {
    for (const char* op : {"ReduceMax", "ReduceMin", "ReduceSum"})
        for (size_t at : {0, 5, 36}) {
            std::vector<float> values = testing::random_floats(37, 9);
            values[at] = NAN;
            testing::KernelCase test;
            test.problem.op = op;
            test.problem.attributes.set("axes", Index{0});
            test.add_src(testing::f32({37}), values);
            test.problem.dst = {testing::f32({1})};
            for (const Kernel* kernel : testing::kernels_for(op))
                EXPECT_TRUE(std::isnan(testing::run_kernel<float>(*kernel, test)[0])) << op << at;
        }
}

TEST(Reduce, Refusals) {
    Problem problem;
    problem.op = "ReduceSum";
    problem.src = {testing::f32({1, 8, 4, 4}, Layout::nchw8c), TensorDesc{ElementType::i64, {1}, Layout::plain}};
    problem.constant = {false, false};
    problem.dst = {testing::f32({1, 1, 4, 4}, Layout::nchw8c)};
    EXPECT_EQ(reduce_emulated512.supports(problem, Target::native(), {}).reason, Reason::needs_constant);
    problem.src.pop_back();
    problem.attributes.set("axes", Index{1});
    EXPECT_EQ(reduce_emulated512.supports(problem, Target::native(), {}).reason, Reason::layout);
    problem.src[0]->type = ElementType::i64;
    EXPECT_EQ(reduce_emulated512.supports(problem, Target::native(), {}).reason, Reason::element_type);
}

}  // namespace
}  // namespace headway
