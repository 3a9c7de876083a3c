#include "kernels/cpu/deconv/deconv.h"

#include <cmath>

#include <gtest/gtest.h>

#include "kernels/kernel_testing.h"

namespace headway {
namespace {

const Kernel subpixel_emulated512{subpixel_deconv(Isa::avx2, "emulated512", emulated512::gemm_micro)};
const Kernel dot_emulated512{dot_deconv(Isa::avx2, "emulated512", emulated512::dot_micro)};
const Kernel col2im_emulated512{col2im_deconv(Isa::avx2, "emulated512", emulated512::gemm_micro)};

struct Case {
    int64_t batch, ic, ih, iw, oc, kh, kw, sh, sw;
    int64_t dh = 1, dw = 1, top = 0, left = 0, bottom = 0, right = 0, extra_h = 0, extra_w = 0, group = 1;
    bool epilogue = false;
};

struct Expected {
    testing::KernelCase kernel_case;
    std::vector<double> values;
};

Expected build(const Case& c) {
    Expected built;
    testing::KernelCase& test = built.kernel_case;
    Problem& problem = test.problem;
    problem.op = "ConvTranspose";
    using List = std::vector<int64_t>;
    problem.attributes.set("strides", List{c.sh, c.sw});
    problem.attributes.set("dilations", List{c.dh, c.dw});
    problem.attributes.set("pads", List{c.top, c.left, c.bottom, c.right});
    problem.attributes.set("output_padding", List{c.extra_h, c.extra_w});
    problem.attributes.set("group", c.group);
    const int64_t oh = c.sh * (c.ih - 1) + c.extra_h + (c.kh - 1) * c.dh + 1 - c.top - c.bottom;
    const int64_t ow = c.sw * (c.iw - 1) + c.extra_w + (c.kw - 1) * c.dw + 1 - c.left - c.right;
    const int64_t ic = c.ic / c.group, oc = c.oc / c.group;
    const std::vector<float> x = testing::random_floats(c.batch * c.ic * c.ih * c.iw, 1),
                             w = testing::random_floats(c.ic * oc * c.kh * c.kw, 2),
                             b = testing::random_floats(c.oc, 3),
                             r = testing::random_floats(c.batch * c.oc * oh * ow, 4);
    test.add_src(testing::f32({c.batch, c.ic, c.ih, c.iw}, Layout::nhwc), x);
    test.add_src(testing::f32({c.ic, oc, c.kh, c.kw}), w, true);
    test.add_src(testing::f32({c.oc}), b, true);
    problem.dst = {testing::f32({c.batch, c.oc, oh, ow}, Layout::nhwc)};
    if (c.epilogue) {
        problem.epilogue = Program::parse("r1=load 0; r0=add r0 r1; r0=relu r0 -> r0");
        test.add_operand(problem.dst[0], r);
    }
    built.values.assign(r.size(), 0);
    const auto at = [&](int64_t n, int64_t o, int64_t y, int64_t z) -> double& {
        return built.values[static_cast<size_t>(((n * c.oc + o) * oh + y) * ow + z)];
    };
    for (int64_t n = 0; n < c.batch; ++n)
        for (int64_t i = 0; i < c.ic; ++i)
            for (int64_t y = 0; y < c.ih; ++y)
                for (int64_t z = 0; z < c.iw; ++z)
                    for (int64_t o = 0; o < oc; ++o)
                        for (int64_t kh = 0; kh < c.kh; ++kh)
                            for (int64_t kw = 0; kw < c.kw; ++kw) {
                                const int64_t row = y * c.sh - c.top + kh * c.dh,
                                              column = z * c.sw - c.left + kw * c.dw;
                                if (row < 0 || row >= oh || column < 0 || column >= ow) continue;
                                at(n, i / ic * oc + o, row, column) +=
                                    double{x[static_cast<size_t>(((n * c.ic + i) * c.ih + y) * c.iw + z)]} *
                                    double{w[static_cast<size_t>(((i * oc + o) * c.kh + kh) * c.kw + kw)]};
                            }
    for (size_t k = 0; k < built.values.size(); ++k) {
        built.values[k] += b[k / static_cast<size_t>(oh * ow) % static_cast<size_t>(c.oc)];
        if (c.epilogue) built.values[k] = std::max(0.0, built.values[k] + r[k]);
    }
    return built;
}

TEST(deconv, odd_shapes) {
    const std::vector<Case> cases = {
        {.batch = 1, .ic = 24, .ih = 7, .iw = 9, .oc = 24, .kh = 2, .kw = 2, .sh = 2, .sw = 2},
        {.batch = 2, .ic = 24, .ih = 5, .iw = 6, .oc = 1, .kh = 2, .kw = 2, .sh = 2, .sw = 2, .epilogue = true},
        {.batch = 1, .ic = 33, .ih = 40, .iw = 23, .oc = 1, .kh = 3, .kw = 3, .sh = 3, .sw = 3},
        {.batch = 1, .ic = 24, .ih = 3, .iw = 19, .oc = 1, .kh = 2, .kw = 2, .sh = 2, .sw = 2},
        {.batch = 1, .ic = 20, .ih = 2, .iw = 13, .oc = 2, .kh = 2, .kw = 2, .sh = 2, .sw = 2},
        {.batch = 2, .ic = 3, .ih = 2, .iw = 1, .oc = 2, .kh = 1, .kw = 2, .sh = 1, .sw = 2, .epilogue = true},
        {.batch = 1, .ic = 17, .ih = 3, .iw = 4, .oc = 9, .kh = 3, .kw = 2, .sh = 3, .sw = 2, .epilogue = true},
        {.batch = 1,
         .ic = 8,
         .ih = 5,
         .iw = 7,
         .oc = 6,
         .kh = 3,
         .kw = 3,
         .sh = 2,
         .sw = 2,
         .top = 1,
         .left = 1,
         .bottom = 1,
         .right = 1,
         .extra_h = 1,
         .extra_w = 1,
         .epilogue = true},
        {.batch = 2,
         .ic = 6,
         .ih = 4,
         .iw = 3,
         .oc = 10,
         .kh = 4,
         .kw = 3,
         .sh = 1,
         .sw = 2,
         .dh = 2,
         .dw = 2,
         .top = 0,
         .left = 2,
         .bottom = 1,
         .right = 0},
        {.batch = 1,
         .ic = 12,
         .ih = 4,
         .iw = 4,
         .oc = 9,
         .kh = 3,
         .kw = 3,
         .sh = 2,
         .sw = 2,
         .top = 1,
         .left = 0,
         .bottom = 0,
         .right = 1,
         .group = 3,
         .epilogue = true},
        {.batch = 1, .ic = 3, .ih = 1, .iw = 20, .oc = 5, .kh = 1, .kw = 4, .sh = 1, .sw = 3, .left = 1, .right = 2},
        {.batch = 0, .ic = 3, .ih = 2, .iw = 2, .oc = 5, .kh = 2, .kw = 2, .sh = 2, .sw = 2},
    };
    int subpixel = 0, dot = 0;
    for (const Case& c : cases) {
        const Expected built = build(c);
        for (const char* name : {"conv_transpose.subpixel", "conv_transpose.dot", "conv_transpose.col2im"})
            for (const Kernel* kernel : testing::kernels_of(name)) {
                if (!kernel->supports(built.kernel_case.problem, Target::native(), {})) {
                    EXPECT_NE(kernel->fields().algorithm, "col2im");
                    continue;
                }
                subpixel += kernel->fields().algorithm == "subpixel" ? 1 : 0;
                dot += kernel->fields().algorithm == "dot" ? 1 : 0;
                testing::expect_near(testing::run_kernel<float>(*kernel, built.kernel_case), built.values, 1e-5, 1e-4,
                                     std::string(kernel->name()) + " on " + built.kernel_case.problem.text());
            }
    }
    EXPECT_GE(subpixel, 4);
    EXPECT_GE(dot, 6);
}

}  // namespace
}  // namespace headway
