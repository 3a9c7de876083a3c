// Reorder and Transpose against index arithmetic.
#include <gtest/gtest.h>

#include <numeric>

#include "kernels/kernel_testing.h"

namespace headway {
namespace {

template <class T>
std::vector<T> counted(int64_t count) {
    std::vector<T> values(static_cast<size_t>(count));
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<T>(i * 7 + 1);
    return values;
}

template <class T>
void check_reorder(const Shape& shape) {
    constexpr Layout layouts[] = {Layout::plain, Layout::nhwc, Layout::nchw8c, Layout::nchw16c};
    const std::vector<T> values = counted<T>(shape.elements());
    for (Layout from : layouts)
        for (Layout to : layouts)
            for (const Kernel* kernel : testing::kernels_for("Reorder")) {
                testing::KernelCase test;
                test.problem.op = "Reorder";
                test.add_src({element_type_of<T>(), shape, from}, values);
                test.problem.dst = {{element_type_of<T>(), shape, to}};
                EXPECT_EQ(testing::run_kernel<T>(*kernel, test), values)
                    << kernel->name() << " " << test.problem.text();
            }
}

TEST(Reorder, EveryPairOfLayouts) {
    for (int64_t channels : {1, 3, 8, 17, 24, 32, 40}) check_reorder<float>({2, channels, 5, 7});
    check_reorder<float>({1, 20, 33});
    check_reorder<float>({2, 19, 3, 4, 5});
    check_reorder<float>({2, 0, 3, 4});
    check_reorder<float>({0, 9, 3, 4});
}

TEST(Reorder, EveryElementSize) {
    check_reorder<uint8_t>({1, 21, 6, 9});
    check_reorder<uint16_t>({1, 21, 6, 9});
    check_reorder<int64_t>({1, 21, 6, 9});
}

TEST(Reorder, ManyTiles) {
    check_reorder<float>({1, 24, 90, 61});
    check_reorder<float>({3, 264, 5, 7});
    check_reorder<float>({2, 48, 31, 37});
}

template <class T>
void check_transpose(const Shape& shape, const std::vector<int64_t>& perm, Layout from = Layout::plain,
                     Layout to = Layout::plain) {
    const std::vector<T> values = counted<T>(shape.elements());
    std::vector<int64_t> dims;
    for (int64_t axis : perm) dims.push_back(shape[static_cast<size_t>(axis)]);
    const Shape result(dims);
    std::vector<T> want(values.size());
    const std::vector<int64_t> strides = shape.strides();
    testing::for_each_index(result, [&](const std::vector<int64_t>& index, int64_t at) {
        int64_t source = 0;
        for (size_t i = 0; i < perm.size(); ++i) source += index[i] * strides[static_cast<size_t>(perm[i])];
        want[static_cast<size_t>(at)] = values[static_cast<size_t>(source)];
    });
    for (const Kernel* kernel : testing::kernels_for("Transpose")) {
        testing::KernelCase test;
        test.problem.op = "Transpose";
        test.problem.attributes.set("perm", perm);
        test.add_src({element_type_of<T>(), shape, from}, values);
        test.problem.dst = {{element_type_of<T>(), result, to}};
        EXPECT_EQ(testing::run_kernel<T>(*kernel, test), want) << kernel->name() << " " << test.problem.text();
    }
}

TEST(Transpose, EveryPermutationOfFourAxes) {
    std::vector<int64_t> perm{0, 1, 2, 3};
    do {
        check_transpose<float>({3, 5, 9, 17}, perm);
        check_transpose<float>({2, 1, 16, 4}, perm);
        check_transpose<uint8_t>({3, 2, 4, 17}, perm);
        check_transpose<int64_t>({3, 4, 5, 2}, perm);
    } while (std::next_permutation(perm.begin(), perm.end()));
}

TEST(Transpose, OtherRanksAndSizes) {
    check_transpose<float>({7}, {0});
    check_transpose<float>({300, 257}, {1, 0});
    check_transpose<float>({3, 5000}, {1, 0});
    check_transpose<float>({5000, 3}, {1, 0});
    check_transpose<float>({0, 4}, {1, 0});
    check_transpose<uint16_t>({70, 31, 2}, {2, 0, 1});
    check_transpose<float>({2, 3, 4, 5, 6}, {4, 0, 2, 1, 3});
}

TEST(Transpose, ChannelsApart) {
    check_transpose<float>({2, 6, 5, 7}, {0, 2, 3, 1}, Layout::nhwc);
    check_transpose<float>({2, 6, 5, 7}, {0, 3, 1, 2}, Layout::plain, Layout::nhwc);
    check_transpose<float>({2, 12, 5, 7}, {0, 1, 3, 2}, Layout::nchw8c, Layout::nchw8c);
}

TEST(Transpose, RefusesBrokenPermutations) {
    const Kernel& kernel = *testing::kernels_for("Transpose").front();
    Problem problem;
    problem.op = "Transpose";
    problem.src = {testing::f32({2, 12, 5, 7}, Layout::nchw8c)};
    problem.constant = {false};
    problem.dst = {testing::f32({2, 5, 7, 12})};
    problem.attributes.set("perm", std::vector<int64_t>{0, 2, 3, 1});
    EXPECT_EQ(kernel.supports(problem, Target::native(), {}).reason, Reason::layout);
    problem.src = {testing::f32({2, 12, 5, 7})};
    EXPECT_TRUE(kernel.supports(problem, Target::native(), {}));
    problem.attributes.set("perm", std::vector<int64_t>{0, 2, 3, 4});
    EXPECT_EQ(kernel.supports(problem, Target::native(), {}).reason, Reason::attribute);
    problem.dst[0].type = ElementType::i64;
    EXPECT_EQ(kernel.supports(problem, Target::native(), {}).reason, Reason::element_type);
}

}  // namespace
}  // namespace headway
