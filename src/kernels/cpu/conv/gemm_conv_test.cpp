#include "kernels/cpu/conv/gemm_conv.h"

#include <gtest/gtest.h>

#include "kernels/cpu/conv/dot_conv.h"
#include "kernels/cpu/testing/conv_cases.h"
#include "kernels/kernel_testing.h"

namespace headway {
namespace {

using testing::check_conv;
using testing::ConvCase;

const Kernel gemm1x1_emulated512{gemm1x1_conv(Isa::avx2, "emulated512", emulated512::gemm_micro)};
const Kernel indirect_emulated512{indirect_conv(Isa::avx2, "emulated512", emulated512::gemm_micro)};
const Kernel im2col_emulated512{im2col_conv(Isa::avx2, "emulated512", emulated512::gemm_micro)};
const Kernel rows_emulated512{rows_conv(Isa::avx2, "emulated512", emulated512::gemm_micro)};
const Kernel gemm1x1_emulated_bf16{gemm1x1_conv(Isa::avx2, "emulated512bf16", emulated512::bf16_gemm_micro)};
const Kernel im2col_emulated_bf16{im2col_conv(Isa::avx2, "emulated512bf16", emulated512::bf16_gemm_micro)};
const Kernel rows_emulated_bf16{rows_conv(Isa::avx2, "emulated512bf16", emulated512::bf16_gemm_micro)};
const Kernel dot_emulated512{dot_conv(Isa::avx2, "emulated512", emulated512::dot_micro)};

constexpr double f32_tolerance = 2e-6;
constexpr double bf16_tolerance = 5e-3;

void check_all(std::string_view family_variant, Layout src, bool may_refuse, const Choices& choices = {},
               double tolerance = f32_tolerance) {
    for (const Kernel* kernel : testing::kernels_of(family_variant)) {
        int checked = 0;
        for (const ConvCase& conv : testing::odd_conv_cases()) {
            const std::string complaint = check_conv(*kernel, conv, src, Layout::nhwc, choices, tolerance);
            const bool bf16 = kernel->fields().compute == ComputeFormat::bf16;  // refuses depthwise
            if ((may_refuse || bf16) && complaint.starts_with("refused")) continue;
            EXPECT_EQ(complaint, "");
            ++checked;
        }
        EXPECT_GE(checked, 4) << kernel->name();
    }
}

TEST(gemm_conv, one_by_one) { check_all("conv.gemm1x1", Layout::nhwc, true); }
TEST(gemm_conv, indirect) { check_all("conv.indirect", Layout::nhwc, false); }
TEST(gemm_conv, im2col) { check_all("conv.im2col", Layout::nhwc, false); }
TEST(gemm_conv, rows) { check_all("conv.rows", Layout::nhwc, true); }
TEST(gemm_conv, dot) { check_all("conv.dot", Layout::nhwc, true); }
TEST(gemm_conv, rows_of_plain_images) { check_all("conv.rows", Layout::plain, true); }

TEST(gemm_conv, bf16_weights) {
    Choices choices;
    choices.set("format.weights", "bf16");
    check_all("conv.indirect", Layout::nhwc, false, choices, bf16_tolerance);
}

TEST(gemm_conv, small_blocks) {
    Choices choices;
    choices.set("gemm.mc", "24");
    choices.set("gemm.nc", "16");
    choices.set("gemm.kc", "128");
    check_all("conv.indirect", Layout::nhwc, false, choices);
    check_all("conv.im2col", Layout::nhwc, false, choices);
    check_all("conv.rows", Layout::nhwc, true, choices);
}

TEST(gemm_conv, refusals_name_what_decides) {
    const Kernel& kernel = *testing::kernels_of("conv.gemm1x1").front();
    EXPECT_EQ(check_conv(kernel, {.kh = 3, .kw = 3}, Layout::nhwc, Layout::nhwc, {}, 0),
              "refused: attribute: kernel 3x3 (needs 1x1)");
    EXPECT_EQ(check_conv(kernel, {.kh = 1, .kw = 1}, Layout::plain, Layout::nhwc, {}, 0),
              "refused: layout: plain to nhwc (needs nhwc)");
    EXPECT_EQ(check_conv(im2col_emulated_bf16, {.ic = 8, .oc = 8, .group = 8}, Layout::nhwc, Layout::nhwc, {}, 0),
              "refused: attribute: 8 groups of one channel (bf16 needs more)");
}

}  // namespace
}  // namespace headway
