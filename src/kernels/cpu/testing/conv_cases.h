// Convolution problems with odd sizes and their expected values by plain loops in double, shared by the tests of all
// convolution kernels.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/kernel.h"
#include "tensor/tensor.h"

namespace headway::testing {

struct ConvCase {
    int64_t batch = 1, ic = 3, ih = 7, iw = 9, oc = 17;
    int64_t kh = 3, kw = 3, sh = 1, sw = 1, dh = 1, dw = 1;
    int64_t top = 0, left = 0, bottom = 0, right = 0;
    int64_t group = 1;
    bool bias = true;
    bool one_dimension = false;  // rank 3; ih and kh must be 1
    bool epilogue = false;       // + residual, * per-channel scale, clip
    std::string text() const;    // reproduces the case
};

struct ConvInstance {
    Problem problem;          // src and dst in the asked layouts
    std::vector<Tensor> src;  // image, weights, bias
    std::vector<Tensor> operands;
    std::vector<double> expected;  // plain order
    std::vector<double> scale;     // sum of |products|: what rounding errors are measured against
};

enum class Expect { values, nothing };  // expected values of a large layer take long
// What is expected of a kernel that computes in `format`.
ConvInstance make_conv(const ConvCase& conv, Layout src, Layout dst, Expect expect = Expect::values,
                       ComputeFormat format = ComputeFormat::fp32);

// Runs the kernel over the case and returns "" or one line that says what is wrong and how to repeat it. Refusals are
// returned as "refused: reason". `tolerance` is relative to the sum of absolute products.
std::string check_conv(const Kernel& kernel, const ConvCase& conv, Layout src, Layout dst, const Choices& choices,
                       double tolerance);

// Sizes, channels, strides, dilations, pads and groups that no kernel's blocking divides.
std::vector<ConvCase> odd_conv_cases();

}  // namespace headway::testing
