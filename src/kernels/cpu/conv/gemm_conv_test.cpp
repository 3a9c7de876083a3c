#include "kernels/cpu/conv/gemm_conv.h"

#include <gtest/gtest.h>

#include "kernels/cpu/testing/conv_cases.h"

namespace headway {
namespace {

using testing::check_conv;
using testing::ConvCase;

using Declare = Kernel::Fields (*)(Isa, std::string_view, const GemmMicro&);

// The kernel over every table of register tiles that runs here.
std::vector<const Kernel*> on_every_isa(Declare declare) {
    std::vector<const Kernel*> kernels;
    for (Isa isa : {Isa::baseline, Isa::avx2, Isa::avx512})
        if (runs_here(isa)) kernels.push_back(new Kernel(declare(isa, "test_" + std::string(to_string(isa)), gemm_micro(isa))));
    if (runs_here(Isa::avx2)) kernels.push_back(new Kernel(declare(Isa::avx2, "test_emulated512", emulated512::gemm_micro)));
    return kernels;
}

constexpr double f32_tolerance = 2e-6;
constexpr double bf16_tolerance = 5e-3;

void check_all(Declare declare, Layout src, bool may_refuse, const Choices& choices = {}, double tolerance = f32_tolerance) {
    for (const Kernel* kernel : on_every_isa(declare)) {
        int checked = 0;
        for (const ConvCase& conv : testing::odd_conv_cases()) {
            const std::string complaint = check_conv(*kernel, conv, src, Layout::nhwc, choices, tolerance);
            if (may_refuse && complaint.starts_with("refused")) continue;
            EXPECT_EQ(complaint, "");
            ++checked;
        }
        EXPECT_GE(checked, 4) << kernel->name();
    }
}

TEST(gemm_conv, one_by_one) { check_all(gemm1x1_conv, Layout::nhwc, true); }
TEST(gemm_conv, indirect) { check_all(indirect_conv, Layout::nhwc, false); }
TEST(gemm_conv, im2col) { check_all(im2col_conv, Layout::nhwc, false); }
TEST(gemm_conv, rows) { check_all(rows_conv, Layout::nhwc, true); }
TEST(gemm_conv, rows_of_plain_images) { check_all(rows_conv, Layout::plain, true); }

TEST(gemm_conv, bf16_weights) {
    Choices choices;
    choices.set("format.weights", "bf16");
    check_all(indirect_conv, Layout::nhwc, false, choices, bf16_tolerance);
}

TEST(gemm_conv, small_blocks) {
    Choices choices;
    choices.set("gemm.mc", "24");
    choices.set("gemm.nc", "16");
    choices.set("gemm.kc", "128");
    check_all(indirect_conv, Layout::nhwc, false, choices);
    check_all(rows_conv, Layout::nhwc, true, choices);
}

TEST(gemm_conv, refusals_name_what_decides) {
    const Kernel kernel(gemm1x1_conv(Isa::baseline, "test_refusal", gemm_micro(Isa::baseline)));
    EXPECT_EQ(check_conv(kernel, {.kh = 3, .kw = 3}, Layout::nhwc, Layout::nhwc, {}, 0),
              "refused: attribute: kernel 3x3 (needs 1x1)");
    EXPECT_EQ(check_conv(kernel, {.kh = 1, .kw = 1}, Layout::plain, Layout::nhwc, {}, 0),
              "refused: layout: plain to nhwc (needs nhwc)");
}

}  // namespace
}  // namespace headway
