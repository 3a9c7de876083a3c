#include "kernels/cpu/pointwise/pointwise.h"

#include <gtest/gtest.h>

#include "kernels/kernel_testing.h"

namespace headway {
namespace {

using testing::f32;

const Kernel pointwise_emulated512{pointwise_fields("emulated512", Isa::avx2, emulated512::tile_ops)};

Shape padded(const Shape& shape, size_t rank) {
    std::vector<int64_t> dims(rank - shape.rank(), 1);
    dims.insert(dims.end(), shape.begin(), shape.end());
    return Shape(dims);
}

void check(const std::string& text, const TensorDesc& dst, const std::vector<TensorDesc>& operands, int in_place = -1) {
    testing::KernelCase test;
    test.problem.op = "Pointwise";
    test.problem.epilogue = Program::parse(text);
    test.problem.dst.assign(test.problem.epilogue.results.size(), dst);
    std::vector<std::vector<float>> values;
    for (size_t k = 0; k < operands.size(); ++k) {
        values.push_back(testing::random_floats(operands[k].shape.elements(), static_cast<uint32_t>(k) + 1));
        test.add_operand(operands[k], values.back());
    }
    test.in_place_operand = in_place;
    std::vector<std::vector<double>> want(test.problem.dst.size());
    testing::for_each_index(dst.shape, [&](const std::vector<int64_t>& index, int64_t) {
        std::vector<double> inputs, results(want.size());
        for (size_t k = 0; k < operands.size(); ++k) {
            const Shape shape = padded(operands[k].shape, index.size());
            int64_t at = 0;
            for (size_t d = 0; d < index.size(); ++d) at = at * shape[d] + (shape[d] == 1 ? 0 : index[d]);
            inputs.push_back(values[k][static_cast<size_t>(at)]);
        }
        evaluate(test.problem.epilogue, 0, inputs.data(), results.data());
        for (size_t i = 0; i < want.size(); ++i) want[i].push_back(results[i]);
    });
    const auto kernels = testing::kernels_for("Pointwise");
    ASSERT_GE(kernels.size(), 1U);
    for (const Kernel* kernel : kernels)
        for (size_t i = 0; i < want.size(); ++i)
            testing::expect_near(testing::run_kernel<float>(*kernel, test, i), want[i], 1e-5, 1e-5,
                                 std::string(kernel->name()) + " " + test.problem.text());
}

TEST(Pointwise, LayoutsAndBroadcasts) {
    for (Layout layout : {Layout::plain, Layout::nhwc, Layout::nchw8c, Layout::nchw16c})
        for (int64_t channels : {1, 3, 17, 24}) {
            const TensorDesc dst = f32({2, channels, 6, 9}, layout);
            check("r1=load 0; r2=load 1; r1=mul r1 r2; r1=hard_swish r1 -> r1", dst, {dst, f32({channels, 1, 1})});
            check("r1=load 0; r2=load 1; r1=add r1 r2; r3=relu r1 -> r1 r3", dst, {dst, f32({2, channels, 1, 1})}, 0);
            check("r1=load 0; r2=load 1; r1=sub r1 r2 -> r1", dst, {f32({1, 1, 6, 9}), f32({})});
        }
    check("r1=load 0; r2=load 1; r3=load 2; r1=add r1 r2; r1=mul r1 r3 -> r1", f32({3, 4, 5, 6}),
          {f32({3, 1, 5, 1}), f32({4, 1, 6}), f32({1})});
    check("r1=load 0; r2=load 1; r1=max r1 r2 -> r1", f32({2, 0, 3}), {f32({2, 0, 3}), f32({3})});
    check("r1=load 0; r1=neg r1 -> r1", f32({}), {f32({})}, 0);
}

TEST(Pointwise, ManyTiles) {
    check("r1=load 0; r2=load 1; r1=add r1 r2; r1=sigmoid r1 -> r1", f32({1, 24, 160, 161}, Layout::nhwc),
          {f32({1, 24, 160, 161}, Layout::nhwc), f32({1, 24, 1, 1})});
    check("r1=load 0; r2=imm 2; r1=mul r1 r2 -> r1", f32({700001}), {f32({700001})}, 0);
}

TEST(Pointwise, RefusesProgramsThatDoNotFit) {
    Problem problem;
    problem.op = "Pointwise";
    problem.epilogue = Program::parse("r1=load 0; r0=add r0 r1 -> r0");
    problem.operands = {f32({4})};
    problem.dst = {f32({4})};
    const Kernel& kernel = pointwise_emulated512;
    Target target;
    target.isa = Isa::avx2;
    EXPECT_EQ(kernel.supports(problem, target, {}).reason, Reason::epilogue);
    problem.epilogue = Program::parse("r1=load 0; r0=add r1 r1 -> r0 r1");
    EXPECT_EQ(kernel.supports(problem, target, {}).reason, Reason::epilogue);
    problem.dst = {f32({4}), f32({2, 4})};
    EXPECT_EQ(kernel.supports(problem, target, {}).reason, Reason::shape);
    problem.dst = {f32({4}), f32({4})};
    EXPECT_TRUE(kernel.supports(problem, target, {}));
    target.isa = Isa::baseline;
    EXPECT_EQ(kernel.supports(problem, target, {}).reason, Reason::isa);
}

}  // namespace
}  // namespace headway
