#include "kernels/cpu/conv/direct.h"

#include <gtest/gtest.h>

#include "kernels/cpu/testing/conv_cases.h"
#include "kernels/kernel_testing.h"

namespace headway {
namespace {

using testing::check_conv;
using testing::ConvCase;

const Kernel direct_emulated512{direct_conv(Isa::avx2, "emulated512", emulated512::direct_tiles)};

constexpr double f32_tolerance = 2e-6;

Layout layout_of(const Kernel& kernel) { return kernel.name().ends_with("512") ? Layout::nchw16c : Layout::nchw8c; }

// Whole blocks in groups, rows that are cut into several units, windows that hang over both edges, more output blocks
// than a tile holds.
std::vector<ConvCase> more_cases() {
    return {
        {.batch = 2,
         .ic = 32,
         .ih = 6,
         .iw = 9,
         .oc = 96,
         .top = 1,
         .left = 1,
         .bottom = 1,
         .right = 1,
         .group = 2,
         .epilogue = true},
        {.ic = 64,
         .ih = 1,
         .iw = 400,
         .oc = 40,
         .kh = 1,
         .kw = 9,
         .left = 4,
         .right = 4,
         .one_dimension = true,
         .epilogue = true},
        {.ic = 65, .ih = 20, .iw = 30, .oc = 100, .kh = 1, .kw = 1, .epilogue = true},
        {.ic = 16, .ih = 2, .iw = 3, .oc = 80, .kh = 5, .kw = 7, .top = 4, .left = 6, .bottom = 4, .right = 6},
        {.ic = 20, .ih = 16, .iw = 50, .oc = 48, .sh = 2, .sw = 2, .top = 1, .left = 1, .bottom = 1, .right = 1},
        {.ic = 3,
         .ih = 12,
         .iw = 61,
         .oc = 40,
         .kh = 5,
         .kw = 5,
         .sh = 2,
         .sw = 2,
         .top = 2,
         .left = 2,
         .bottom = 2,
         .right = 2,
         .epilogue = true},
    };
}

enum class Image { blocked, plain };

std::vector<ConvCase> all_cases() {
    std::vector<ConvCase> cases = testing::odd_conv_cases();
    for (const ConvCase& conv : more_cases()) cases.push_back(conv);
    return cases;
}

// `least`: cases that must not be refused.
void check_all(const std::vector<ConvCase>& cases, Image image, int least, const Choices& choices = {}) {
    for (const Kernel* kernel : testing::kernels_of("conv.direct")) {
        int checked = 0;
        const Layout dst = layout_of(*kernel), src = image == Image::plain ? Layout::plain : dst;
        for (const ConvCase& conv : cases) {
            const std::string complaint = check_conv(*kernel, conv, src, dst, choices, f32_tolerance);
            if (complaint.starts_with("refused")) continue;
            EXPECT_EQ(complaint, "");
            ++checked;
        }
        EXPECT_GE(checked, least) << kernel->name();
    }
}

TEST(direct, odd_shapes) { check_all(all_cases(), Image::blocked, 27); }
TEST(direct, plain_images) { check_all(all_cases(), Image::plain, 7); }

TEST(direct, every_width_of_tiles) {
    for (const char* blocks : {"1", "2", "3", "4"}) {
        Choices choices;
        choices.set("conv.direct_blocks", blocks);
        check_all(more_cases(), Image::blocked, 6, choices);
    }
}

TEST(direct, channels_in_turns_and_narrow_tiles) {
    Choices choices;
    choices.set("conv.direct_weights_kb", "16");
    choices.set("conv.direct_pixels", "4");
    check_all(more_cases(), Image::blocked, 6, choices);
    check_all(more_cases(), Image::plain, 1, choices);
}

TEST(direct, turns_do_not_change_bits) {
    const ConvCase conv{.ic = 130, .ih = 9, .iw = 11, .oc = 50, .top = 1, .left = 1, .bottom = 1, .right = 1};
    for (const Kernel* kernel : testing::kernels_of("conv.direct")) {
        const testing::ConvInstance instance = testing::make_conv(conv, layout_of(*kernel), layout_of(*kernel));
        Choices turns;
        turns.set("conv.direct_weights_kb", "16");
        turns.set("conv.direct_blocks", "1");
        const testing::KernelCase whole = testing::case_of(instance.problem, instance.src, {});
        const testing::KernelCase in_turns = testing::case_of(instance.problem, instance.src, {}, turns);
        EXPECT_EQ(testing::run_kernel<float>(*kernel, in_turns), testing::run_kernel<float>(*kernel, whole));
    }
}

TEST(direct, refusals_name_what_decides) {
    const Kernel& kernel = *testing::kernels_of("conv.direct").front();
    const ConvCase groups{.ic = 24, .oc = 24, .group = 2};
    EXPECT_EQ(check_conv(kernel, groups, layout_of(kernel), layout_of(kernel), {}, 0),
              "refused: attribute: 2 groups of 12 to 12 channels (needs whole blocks of " +
                  std::to_string(channel_block(layout_of(kernel))) + ")");
    EXPECT_EQ(check_conv(kernel, {.ic = 8}, Layout::plain, layout_of(kernel), {}, 0).substr(0, 15), "refused: layout");
    EXPECT_EQ(check_conv(kernel, {.ic = 3}, Layout::nhwc, Layout::nhwc, {}, 0).substr(0, 15), "refused: layout");
}

}  // namespace
}  // namespace headway
