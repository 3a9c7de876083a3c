#include "kernels/kernel.h"

#include <gtest/gtest.h>

#include "kernels/kernel_testing.h"

namespace headway {
namespace {

Problem slice_problem() {
    Problem problem;
    problem.op = "Slice";
    problem.version = 13;
    problem.src = {testing::f32({1, 3, 8}), TensorDesc{ElementType::i64, {2}, Layout::plain}, std::nullopt};
    problem.constant = {false, true, false};
    problem.dst = {testing::f32({1, 3, 4}, Layout::nhwc)};
    return problem;
}

TEST(Problem, SmallConstantsAreKnownByValue) {
    Problem problem = slice_problem();
    const Tensor starts = Tensor::of<int64_t>({2}, std::vector<int64_t>{4, -1});
    const Tensor big(ElementType::i64, {65});
    const std::vector<const Tensor*> constants{&big, &starts, nullptr};
    EXPECT_FALSE(constant_integers(problem, 1));
    give_constants(problem, constants);
    EXPECT_FALSE(constant_integers(problem, 0));
    EXPECT_EQ(constant_integers(problem, 1), (std::vector<int64_t>{4, -1}));
    EXPECT_FALSE(constant_reals(problem, 1));
    EXPECT_FALSE(constant_integers(problem, 2));
}

TEST(Problem, TextIsOneLine) {
    Problem problem = slice_problem();
    problem.attributes.set("mode", std::string("a\nb"));
    problem.epilogue = Program::parse("r1=load 0; r0=add r0 r1 -> r0");
    problem.operands = {testing::f32({3, 1})};
    EXPECT_EQ(
        problem.text(),
        "Slice:13(f32[1x3x8], const i64[2], _) {mode=\"a\\x0Ab\"} then (f32[3x1]) r1=load 0; r0=add r0 r1 -> r0 -> "
        "f32[1x3x4]:nhwc");
}

TEST(Layouts, GoThereAndBack) {
    const std::vector<float> plain = testing::random_floats(2 * 11 * 3 * 2, 1);
    for (const Layout layout : {Layout::plain, Layout::nhwc, Layout::nchw8c, Layout::nchw16c}) {
        const TensorDesc desc = testing::f32({2, 11, 3, 2}, layout);
        const testing::Guarded laid_out = testing::to_physical(desc, plain.data(), testing::Guard::behind);
        EXPECT_EQ(testing::from_physical<float>(desc, laid_out), plain) << to_string(layout);
    }
}

TEST(Choices, WrongValuesAreTheUsersFault) {
    static const Knob<int64_t> knob{
        {.name = "test.choice", .help = "", .family = "kernel", .values = {3, 5}, .witness = ""}};
    Choices choices;
    EXPECT_EQ(choices.get(knob), 3);
    choices.set(knob, "5");
    EXPECT_EQ(choices.get(knob), 5);
    choices.set(knob, "7");
    EXPECT_THROW(choices.get(knob), UserError);
}

}  // namespace
}  // namespace headway
