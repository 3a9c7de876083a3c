#include "kernels/cpu/conv/planar.h"

#include <gtest/gtest.h>

#include "kernels/cpu/testing/conv_cases.h"
#include "kernels/kernel_testing.h"

namespace headway {
namespace {

using testing::check_conv;
using testing::ConvCase;

const Kernel planar_emulated512{planar_conv(Isa::avx2, "emulated512", emulated512::planar_tiles)};

constexpr double f32_tolerance = 2e-6;

// Long rows with wide windows, strides with dilations, more output channels than a tile holds, windows that never hang
// over the sides (the image is read where it lies), rows without any tap inside, strides of two, rows so short that
// tiles take several.
std::vector<ConvCase> more_cases() {
    return {
        {.batch = 2,
         .ic = 8,
         .ih = 4,
         .iw = 150,
         .oc = 8,
         .kh = 3,
         .kw = 39,
         .top = 1,
         .left = 19,
         .bottom = 1,
         .right = 19,
         .epilogue = true},
        {.ic = 2,
         .ih = 9,
         .iw = 101,
         .oc = 7,
         .kh = 3,
         .kw = 4,
         .sh = 2,
         .sw = 3,
         .dh = 2,
         .dw = 2,
         .top = 2,
         .left = 5,
         .bottom = 1,
         .right = 4,
         .epilogue = true},
        {.ic = 3, .ih = 33, .iw = 65, .oc = 19, .sh = 2, .sw = 2, .top = 1, .left = 1, .bottom = 1, .right = 1},
        {.batch = 2,
         .ic = 12,
         .ih = 40,
         .iw = 62,
         .oc = 12,
         .kh = 7,
         .kw = 1,
         .dh = 17,
         .top = 51,
         .bottom = 51,
         .epilogue = true},
        {.ic = 24, .ih = 200, .iw = 333, .oc = 3, .kh = 3, .kw = 1, .dh = 48, .top = 48, .bottom = 48},
        {.ic = 3, .ih = 5, .iw = 35, .oc = 9, .kh = 2, .kw = 4, .sh = 3, .dh = 9, .dw = 5, .top = 9, .bottom = 9},
        {.ic = 5, .ih = 9, .iw = 87, .oc = 24, .sh = 2, .sw = 2, .top = 1, .left = 2, .bottom = 1, .right = 5},
        {.ic = 2, .ih = 6, .iw = 3, .oc = 4, .kw = 5, .sw = 2, .left = 6, .right = 9, .epilogue = true},
        {.batch = 2,
         .ic = 12,
         .ih = 29,
         .iw = 16,
         .oc = 12,
         .kh = 7,
         .top = 3,
         .left = 1,
         .bottom = 3,
         .right = 1,
         .epilogue = true},
        {.ic = 5, .ih = 31, .iw = 19, .oc = 7, .kh = 5, .kw = 1, .dh = 2, .top = 4, .bottom = 4, .epilogue = true},
        {.ic = 2, .ih = 23, .iw = 20, .oc = 1, .kh = 3, .kw = 2, .sh = 2, .top = 2, .bottom = 1},
        {.batch = 2,
         .ic = 8,
         .ih = 19,
         .iw = 117,
         .oc = 1,
         .kh = 5,
         .kw = 5,
         .top = 2,
         .left = 2,
         .bottom = 2,
         .right = 2,
         .epilogue = true},
        {.ic = 33, .ih = 11, .iw = 40, .oc = 1, .top = 1, .left = 1, .bottom = 1, .right = 1},
        {.ic = 3, .ih = 10, .iw = 35, .oc = 1, .kh = 2, .kw = 4, .sw = 2, .dw = 2, .bottom = 1, .epilogue = true},
        {.ic = 4, .ih = 23, .iw = 50, .oc = 1, .kh = 7, .top = 3, .bottom = 3},
        {.ic = 2, .ih = 4, .iw = 9, .oc = 1, .kh = 6, .kw = 1, .top = 3, .bottom = 2},
        {.ic = 3, .ih = 21, .iw = 34, .oc = 4, .sh = 2, .sw = 2, .top = 1, .left = 1, .bottom = 1, .right = 1},
        {.ic = 1,
         .ih = 1,
         .iw = 3000,
         .oc = 5,
         .kh = 1,
         .kw = 33,
         .sw = 4,
         .left = 16,
         .one_dimension = true,
         .epilogue = true},
    };
}

void check_all(const Choices& choices) {
    std::vector<ConvCase> cases = testing::odd_conv_cases();
    for (const ConvCase& conv : more_cases()) cases.push_back(conv);
    for (const Kernel* kernel : testing::kernels_of("conv.planar")) {
        int checked = 0;
        for (const ConvCase& conv : cases) {
            const std::string complaint =
                check_conv(*kernel, conv, Layout::plain, Layout::plain, choices, f32_tolerance);
            if (complaint.starts_with("refused")) continue;
            EXPECT_EQ(complaint, "");
            ++checked;
        }
        EXPECT_GE(checked, 30) << kernel->name();
    }
}

TEST(planar, odd_shapes) { check_all({}); }

TEST(planar, small_units) {
    Choices choices;
    choices.set("conv.planar_tile_kmacs", "128");
    check_all(choices);
}

TEST(planar, refusals_name_what_decides) {
    const Kernel& kernel = *testing::kernels_of("conv.planar").front();
    EXPECT_EQ(check_conv(kernel, {.ic = 8}, Layout::nhwc, Layout::nhwc, {}, 0),
              "refused: layout: nhwc to nhwc (needs plain)");
    EXPECT_EQ(check_conv(kernel, {.ic = 8, .oc = 8, .group = 2}, Layout::plain, Layout::plain, {}, 0),
              "refused: attribute: 2 groups (needs 1)");
}

}  // namespace
}  // namespace headway
