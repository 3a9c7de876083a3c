#include "kernels/cpu/winograd/winograd.h"

#include <gtest/gtest.h>

#include "kernels/cpu/testing/conv_cases.h"
#include "kernels/kernel_testing.h"

namespace headway {
namespace {

const Kernel winograd2_emulated512{
    winograd_conv(2, Isa::avx2, "emulated512", emulated512::gemm_micro, emulated512::winograd_transforms)};
const Kernel winograd4_emulated512{
    winograd_conv(4, Isa::avx2, "emulated512", emulated512::gemm_micro, emulated512::winograd_transforms)};
const Kernel winograd6_emulated512{
    winograd_conv(6, Isa::avx2, "emulated512", emulated512::gemm_micro, emulated512::winograd_transforms)};

std::vector<testing::ConvCase> cases() {
    std::vector<testing::ConvCase> cases;
    for (int64_t size : {1, 2, 3, 4, 5, 7, 8, 13, 19})
        cases.push_back({.batch = size == 5 ? 2 : 1,
                         .ic = 3 + 7 * (size % 4),
                         .ih = size,
                         .iw = 20 - size,
                         .oc = 8 + 5 * (size % 5),
                         .top = 1,
                         .left = 1,
                         .bottom = 1,
                         .right = 1,
                         .bias = size % 2 == 0,
                         .epilogue = size % 3 == 0});
    cases.push_back({.ic = 17, .ih = 9, .iw = 11, .oc = 24});
    cases.push_back({.ic = 33, .ih = 6, .iw = 6, .oc = 1, .top = 2, .left = 0, .bottom = 1, .right = 2});
    cases.push_back({.ic = 300, .ih = 6, .iw = 6, .oc = 40, .top = 1, .left = 1, .bottom = 1, .right = 1});
    cases.push_back({.batch = 0, .ic = 8, .oc = 16});
    return cases;
}

void check_all(std::string_view family_variant, const Choices& choices, double tolerance) {
    for (const Kernel* kernel : testing::kernels_of(family_variant))
        for (const testing::ConvCase& conv : cases())
            EXPECT_EQ(check_conv(*kernel, conv, Layout::nhwc, Layout::nhwc, choices, tolerance), "");
}

// Transformed values are larger than the sums they stand for, F(4,3)'s by up to two orders of magnitude, F(6,3)'s by
// three.
TEST(winograd, two) { check_all("conv.winograd2", {}, 1e-5); }
TEST(winograd, four) { check_all("conv.winograd4", {}, 1e-4); }
TEST(winograd, six) { check_all("conv.winograd6", {}, 1e-3); }

TEST(winograd, small_blocks) {
    Choices choices;
    choices.set("conv.winograd_block", "6");
    choices.set("gemm.kc", "128");
    check_all("conv.winograd4", choices, 1e-4);
}

TEST(winograd, refusals_name_what_decides) {
    const Kernel& kernel = *testing::kernels_of("conv.winograd4").front();
    EXPECT_EQ(testing::check_conv(kernel, {.kh = 5, .kw = 3}, Layout::nhwc, Layout::nhwc, {}, 0),
              "refused: attribute: kernel 5x3 (needs 3x3)");
    EXPECT_EQ(testing::check_conv(kernel, {.sh = 1, .sw = 2}, Layout::nhwc, Layout::nhwc, {}, 0),
              "refused: attribute: stride 1x2 (needs 1)");
}

}  // namespace
}  // namespace headway
