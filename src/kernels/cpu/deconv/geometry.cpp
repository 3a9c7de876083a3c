#include "kernels/cpu/deconv/geometry.h"

#include <algorithm>

#include "kernels/cpu/gemm/epilogue.h"

namespace headway {
namespace {

int64_t spatial_value(const Problem& problem, const char* name, size_t axis, size_t spatial, int64_t fallback) {
    const std::vector<int64_t> values = problem.attributes.integers(name);
    // axis counts from the last dimension, so that height is absent in one dimension
    return axis < spatial && values.size() >= spatial ? values[spatial - 1 - axis] : fallback;
}

// Padding in front of an axis; explicit pads give way to an explicit output shape or auto_pad.
int64_t front_pad(const Problem& problem, size_t axis, size_t spatial, int64_t total) {
    const std::string auto_pad = problem.attributes.text("auto_pad", "NOTSET");
    total = std::max<int64_t>(0, total);
    if (auto_pad == "SAME_UPPER") return total / 2;
    if (auto_pad == "SAME_LOWER" || !problem.attributes.integers("output_shape").empty()) return total - total / 2;
    const std::vector<int64_t> pads = problem.attributes.integers("pads");
    return auto_pad == "VALID" || axis >= spatial || pads.size() < 2 * spatial ? 0 : pads[spatial - 1 - axis];
}

Verdict check_operands(const Problem& problem) {
    const auto present = [&](size_t i) { return i < problem.src.size() && problem.src[i].has_value(); };
    if (!present(0) || !present(1) || problem.dst.empty())
        return Verdict::no(Reason::shape, "a transposed convolution needs an image and weights");
    if (!problem.constant.empty() && problem.constant[0]) return Verdict::no(Reason::shape, "the image is a constant");
    const size_t rank = problem.src[0]->shape.rank();
    if ((rank != 3 && rank != 4) || problem.src[1]->shape.rank() != rank || problem.dst[0].shape.rank() != rank)
        return Verdict::no(Reason::shape, "rank " + std::to_string(rank) + " (needs 3 or 4, equal for all)");
    for (size_t i = 0; i < problem.src.size() && i < 3; ++i) {
        if (!present(i)) continue;
        if (problem.src[i]->type != ElementType::f32)
            return Verdict::no(Reason::element_type, "input " + std::to_string(i) + " is not f32");
        if (i > 0 && (i >= problem.constant.size() || !problem.constant[i]))
            return Verdict::no(Reason::needs_constant, "weights or bias are computed at run time");
    }
    if (!has_nhwc_bytes(*problem.src[0]) || !has_nhwc_bytes(problem.dst[0]))
        return Verdict::no(Reason::layout, std::string(to_string(problem.src[0]->layout)) + " to " +
                                               std::string(to_string(problem.dst[0].layout)) + " (needs nhwc)");
    return Verdict::yes();
}

}  // namespace

bool DeconvGeometry::disjoint() const {
    return kh == stride_h && kw == stride_w && dilation_h == 1 && dilation_w == 1 && pad_top == 0 && pad_left == 0 &&
           oh == ih * kh && ow == iw * kw;
}

Verdict read_deconv(const Problem& problem, DeconvGeometry& g) {
    if (Verdict verdict = check_operands(problem); !verdict) return verdict;
    const Shape& x = problem.src[0]->shape;
    const Shape& w = problem.src[1]->shape;
    const Shape& y = problem.dst[0].shape;
    const size_t spatial = x.rank() - 2;
    const bool flat = spatial == 1;
    g = {};
    g.batch = x[0], g.ic = x[1], g.oc = y[1];
    g.ih = flat ? 1 : x[2], g.iw = x.back(), g.oh = flat ? 1 : y[2], g.ow = y.back();
    g.kh = flat ? 1 : w[2], g.kw = w.back();
    g.group = problem.attributes.integer("group", 1);
    g.stride_h = spatial_value(problem, "strides", 1, spatial, 1),
    g.stride_w = spatial_value(problem, "strides", 0, spatial, 1);
    g.dilation_h = spatial_value(problem, "dilations", 1, spatial, 1),
    g.dilation_w = spatial_value(problem, "dilations", 0, spatial, 1);
    g.has_bias = problem.src.size() > 2 && problem.src[2].has_value();
    if (g.group < 1 || g.ic % g.group != 0 || g.oc % g.group != 0 || w[0] != g.ic || w[1] != g.oc / g.group)
        return Verdict::no(Reason::shape, "weights " + w.text() + " do not fit the channels");
    if (g.stride_h < 1 || g.stride_w < 1 || g.dilation_h < 1 || g.dilation_w < 1)
        return Verdict::no(Reason::attribute, "strides and dilations must be positive");
    const auto total = [&](size_t axis, int64_t in, int64_t kernel, int64_t stride, int64_t dilation, int64_t out) {
        return stride * (in - 1) + spatial_value(problem, "output_padding", axis, spatial, 0) +
               (kernel - 1) * dilation + 1 - out;
    };
    g.pad_top = front_pad(problem, 1, spatial, total(1, g.ih, g.kh, g.stride_h, g.dilation_h, g.oh));
    g.pad_left = front_pad(problem, 0, spatial, total(0, g.iw, g.kw, g.stride_w, g.dilation_w, g.ow));
    if (g.pad_top < 0 || g.pad_left < 0) return Verdict::no(Reason::attribute, "negative pads");
    return Epilogue::supports(problem, Epilogue::View::pixels);
}

DeconvGeometry deconv_geometry(const Problem& problem) {
    DeconvGeometry geometry{};
    HEADWAY_CHECK(read_deconv(problem, geometry));
    return geometry;
}

std::vector<float> deconv_matrix(const DeconvGeometry& g, std::span<const float> weights, int64_t group) {
    std::vector<float> matrix;
    matrix.reserve(static_cast<size_t>(g.group_ic() * g.taps() * g.group_oc()));
    for (int64_t c = 0; c < g.group_ic(); ++c)
        for (int64_t tap = 0; tap < g.taps(); ++tap)
            for (int64_t o = 0; o < g.group_oc(); ++o)
                matrix.push_back(
                    weights[static_cast<size_t>(((group * g.group_ic() + c) * g.group_oc() + o) * g.taps() + tap)]);
    return matrix;
}

}  // namespace headway
