#include "kernels/cpu/depthwise/depthwise.h"

#include <gtest/gtest.h>

#include "kernels/cpu/testing/conv_cases.h"
#include "kernels/kernel_testing.h"

namespace headway {
namespace {

std::vector<testing::ConvCase> cases() {
    return {
        {.ic = 17, .ih = 9, .iw = 19, .oc = 17, .top = 1, .left = 1, .bottom = 1, .right = 1, .group = 17},
        {.batch = 2,
         .ic = 24,
         .ih = 12,
         .iw = 21,
         .oc = 24,
         .sh = 2,
         .sw = 2,
         .top = 1,
         .left = 0,
         .bottom = 1,
         .right = 2,
         .group = 24,
         .epilogue = true},
        {.ic = 33,
         .ih = 6,
         .iw = 5,
         .oc = 33,
         .kh = 5,
         .kw = 5,
         .top = 2,
         .left = 2,
         .bottom = 2,
         .right = 2,
         .group = 33,
         .epilogue = true},
        {.ic = 8,
         .ih = 14,
         .iw = 30,
         .oc = 8,
         .kh = 5,
         .kw = 5,
         .sh = 2,
         .sw = 1,
         .top = 2,
         .left = 2,
         .bottom = 2,
         .right = 2,
         .group = 8,
         .bias = false},
        {.ic = 3,
         .ih = 19,
         .iw = 19,
         .oc = 3,
         .kh = 7,
         .kw = 4,
         .dh = 2,
         .dw = 3,
         .top = 6,
         .left = 5,
         .bottom = 6,
         .right = 5,
         .group = 3},
        {.ic = 6,
         .ih = 11,
         .iw = 13,
         .oc = 18,
         .top = 1,
         .left = 1,
         .bottom = 1,
         .right = 1,
         .group = 6,
         .epilogue = true},
        {.ic = 12,
         .ih = 1,
         .iw = 50,
         .oc = 12,
         .kh = 1,
         .kw = 3,
         .left = 1,
         .right = 1,
         .group = 12,
         .one_dimension = true},
        {.ic = 16,
         .ih = 2,
         .iw = 2,
         .oc = 16,
         .kh = 5,
         .kw = 5,
         .top = 4,
         .left = 4,
         .bottom = 4,
         .right = 4,
         .group = 16},
        {.ic = 24,
         .ih = 8,
         .iw = 23,
         .oc = 24,
         .kh = 7,
         .kw = 7,
         .top = 3,
         .left = 3,
         .bottom = 3,
         .right = 3,
         .group = 24},
        {.ic = 17,
         .ih = 15,
         .iw = 40,
         .oc = 17,
         .kh = 7,
         .kw = 7,
         .sh = 2,
         .sw = 2,
         .top = 3,
         .left = 3,
         .bottom = 3,
         .right = 3,
         .group = 17,
         .epilogue = true},
        {.batch = 0, .ic = 8, .oc = 8, .group = 8},
    };
}

const Kernel depthwise_emulated512{depthwise_conv(Isa::avx2, "emulated512", emulated512::depthwise_strips)};

void check_all(const Choices& choices) {
    for (const Kernel* kernel : testing::kernels_of("conv.depthwise"))
        for (const testing::ConvCase& conv : cases())
            EXPECT_EQ(check_conv(*kernel, conv, Layout::nhwc, Layout::nhwc, choices, 1e-6), "");
}

TEST(depthwise, odd_shapes) { check_all({}); }

TEST(depthwise, channel_blocks) {
    for (const Kernel* kernel : testing::kernels_of("conv.depthwise")) {
        int checked = 0;
        for (const Layout layout : {Layout::nchw8c, Layout::nchw16c})
            for (const testing::ConvCase& conv : cases()) {
                const std::string complaint = check_conv(*kernel, conv, layout, layout, {}, 1e-6);
                if (complaint.starts_with("refused")) continue;
                EXPECT_EQ(complaint, "");
                ++checked;
            }
        EXPECT_GE(checked, 8) << kernel->name();
    }
}

TEST(depthwise, short_strips_and_small_tiles) {
    Choices choices;
    choices.set("conv.depthwise_pixels", "5");
    choices.set("conv.depthwise_tile_kmacs", "32");
    choices.set("conv.depthwise_channels", "16");
    check_all(choices);
}

TEST(depthwise, refuses_groups_of_several_channels) {
    const Kernel& kernel = *testing::kernels_of("conv.depthwise").front();
    EXPECT_EQ(testing::check_conv(kernel, {.ic = 8, .oc = 8, .group = 4}, Layout::nhwc, Layout::nhwc, {}, 0),
              "refused: attribute: 2 channels in each of 4 groups (needs 1 channel, several groups)");
}

}  // namespace
}  // namespace headway
