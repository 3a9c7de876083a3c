#include <gtest/gtest.h>

#include <cstring>

#include "kernels/cpu/providers/onednn/library.h"
#include "kernels/cpu/testing/conv_cases.h"
#include "kernels/kernel_testing.h"

namespace headway {
namespace {

using testing::check_conv;
using testing::ConvCase;

class OnednnConvTest : public ::testing::Test {
protected:
    void SetUp() override {
        if (onednn() == nullptr) GTEST_SKIP() << "no oneDNN plug-in here";
    }
    // Cases that some implementation served.
    static int check_all(Layout src, Layout dst, const char* implementation, double tolerance) {
        int checked = 0;
        for (const Kernel* kernel : testing::kernels_of("conv.onednn"))
            for (const ConvCase& conv : testing::odd_conv_cases()) {
                Choices choices;
                choices.set("conv.onednn_implementation", implementation);
                const std::string complaint = check_conv(*kernel, conv, src, dst, choices, tolerance);
                if (complaint.starts_with("refused")) continue;
                EXPECT_EQ(complaint, "");
                ++checked;
            }
        return checked;
    }
};

constexpr double direct_tolerance = 2e-6, winograd_tolerance = 2e-4;

TEST_F(OnednnConvTest, Nhwc) { EXPECT_GE(check_all(Layout::nhwc, Layout::nhwc, "0", direct_tolerance), 10); }
TEST_F(OnednnConvTest, ChannelBlocks) {
    EXPECT_GE(check_all(Layout::nchw8c, Layout::nchw8c, "0", direct_tolerance), 10);
}
TEST_F(OnednnConvTest, PlainImageToChannelBlocks) {
    EXPECT_GE(check_all(Layout::plain, Layout::nchw8c, "0", direct_tolerance), 2);
}
TEST_F(OnednnConvTest, OtherImplementations) {
    int checked = 0;
    for (const char* implementation : {"1", "2", "3"})
        for (Layout layout : {Layout::nhwc, Layout::nchw8c, Layout::nchw16c})
            checked += check_all(layout, layout, implementation, winograd_tolerance);
    EXPECT_GE(checked, 1);
}

TEST_F(OnednnConvTest, RefusesWithTheProvidersReason) {
    const Kernel& kernel = *testing::kernels_of("conv.onednn").front();
    const testing::ConvInstance conv = testing::make_conv({.ic = 8, .oc = 8}, Layout::nhwc, Layout::nhwc);
    Target target = Target::native();
    target.onednn = "absent";
    EXPECT_EQ(kernel.supports(conv.problem, target, {}).text(), "provider: the target has no oneDNN");
    target.onednn = "1.0.0";
    EXPECT_EQ(kernel.supports(conv.problem, target, {}).text(),
              "provider: oneDNN here is " + onednn_version() + " (the target has 1.0.0)");
    const testing::ConvInstance plain = testing::make_conv({.ic = 8, .oc = 8}, Layout::plain, Layout::plain);
    EXPECT_EQ(kernel.supports(plain.problem, Target::native(), {}).reason, Reason::layout);
}

}  // namespace
}  // namespace headway
