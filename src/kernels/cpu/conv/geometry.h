// The numbers of a 2-D convolution read from a problem. One-dimensional convolutions are seen as 2-D with a height
// of 1.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/kernel.h"

namespace headway {

struct ConvGeometry {
    int64_t batch, ic, ih, iw, oc, oh, ow;
    int64_t kh, kw;
    int64_t stride_h, stride_w, dilation_h, dilation_w;
    int64_t pad_top, pad_left;
    int64_t group;
    bool has_bias;

    int64_t group_ic() const { return ic / group; }
    int64_t group_oc() const { return oc / group; }
    int64_t pixels() const { return batch * oh * ow; }
    int64_t taps() const { return kh * kw; }
    int64_t k() const { return taps() * group_ic(); }
    // Whether the window of some output pixel reaches over the image's edge.
    bool padded() const;
};

// Fills `geometry`, or says why the problem is no such convolution: rank, element types, weights not known at build
// time. Layouts are the caller's business.
Verdict read_conv(const Problem& problem, ConvGeometry& geometry);
// The same whatever the element types are and whenever the weights are known.
Verdict read_windows(const Problem& problem, ConvGeometry& geometry);
// After a positive verdict of read_conv.
ConvGeometry conv_geometry(const Problem& problem);
// read_conv, and nhwc bytes on both sides, and an epilogue that runs on pixel rows.
Verdict read_nhwc_conv(const Problem& problem, ConvGeometry& geometry);

// Floating-point operations of the convolution as ONNX defines it.
double conv_flops(const ConvGeometry& geometry);
// Bytes of all operands and results, each touched once, with weights of `weight_bytes` per element.
double conv_bytes(const Problem& problem, const ConvGeometry& geometry, double weight_bytes);

}  // namespace headway
