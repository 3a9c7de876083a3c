// The numbers of a 2-D transposed convolution read from a problem; one-dimensional ones have a height of 1.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/kernel.h"

namespace headway {

struct DeconvGeometry {
    int64_t batch, ic, ih, iw, oc, oh, ow;
    int64_t kh, kw;
    int64_t stride_h, stride_w, dilation_h, dilation_w;
    int64_t pad_top, pad_left;
    int64_t group;
    bool has_bias;

    int64_t group_ic() const { return ic / group; }
    int64_t group_oc() const { return oc / group; }
    int64_t taps() const { return kh * kw; }
    int64_t in_pixels() const { return batch * ih * iw; }
    // Each input pixel has output pixels of its own.
    bool disjoint() const;
};

// Fills `geometry`, or says why the problem is no such transposed convolution over nhwc bytes.
Verdict read_deconv(const Problem& problem, DeconvGeometry& geometry);
// After a positive verdict.
DeconvGeometry deconv_geometry(const Problem& problem);

// One group's weights (ic, oc, kh, kw) as a matrix ic x (kh, kw, oc).
std::vector<float> deconv_matrix(const DeconvGeometry& geometry, std::span<const float> weights, int64_t group);

}  // namespace headway
