#include "kernels/cpu/conv/geometry.h"

#include <algorithm>

#include "kernels/cpu/gemm/epilogue.h"

namespace headway {
namespace {

// Values of a spatial attribute as {height, width}.
std::pair<int64_t, int64_t> pair_of(const Problem& problem, const char* name, int64_t fallback, size_t spatial) {
    const std::vector<int64_t> values = problem.attributes.integers(name);
    if (values.size() < spatial) return {fallback, fallback};
    return spatial == 1 ? std::pair{fallback, values[0]} : std::pair{values[0], values[1]};
}

// Padding in front of an axis under auto_pad.
int64_t same_pad(int64_t in, int64_t out, int64_t kernel, int64_t stride, int64_t dilation, bool upper) {
    const int64_t total = std::max<int64_t>(0, (out - 1) * stride + (kernel - 1) * dilation + 1 - in);
    return upper ? total / 2 : total - total / 2;
}

void read_padding(const Problem& problem, size_t spatial, ConvGeometry& g) {
    const std::string auto_pad = problem.attributes.text("auto_pad", "NOTSET");
    if (auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER") {
        const bool upper = auto_pad == "SAME_UPPER";
        g.pad_top = same_pad(g.ih, g.oh, g.kh, g.stride_h, g.dilation_h, upper);
        g.pad_left = same_pad(g.iw, g.ow, g.kw, g.stride_w, g.dilation_w, upper);
        return;
    }
    const std::vector<int64_t> pads = problem.attributes.integers("pads");
    if (auto_pad == "VALID" || pads.size() < 2 * spatial) return;
    g.pad_top = spatial == 1 ? 0 : pads[0];
    g.pad_left = pads[spatial - 1];
}

bool present(const Problem& problem, size_t i) { return i < problem.src.size() && problem.src[i].has_value(); }

Verdict check_shapes(const Problem& problem) {
    if (!present(problem, 0) || !present(problem, 1) || problem.dst.empty())
        return Verdict::no(Reason::shape, "a convolution needs an image and weights");
    const size_t rank = problem.src[0]->shape.rank();
    if (rank != 3 && rank != 4) return Verdict::no(Reason::shape, "rank " + std::to_string(rank) + " (needs 3 or 4)");
    if (problem.src[1]->shape.rank() != rank || problem.dst[0].shape.rank() != rank)
        return Verdict::no(Reason::shape, "ranks of image, weights and output differ");
    if (!problem.constant.empty() && problem.constant[0]) return Verdict::no(Reason::shape, "the image is a constant");
    return Verdict::yes();
}

Verdict check_operands(const Problem& problem) {
    for (size_t i = 0; i < problem.src.size() && i < 3; ++i)
        if (present(problem, i) && problem.src[i]->type != ElementType::f32)
            return Verdict::no(Reason::element_type, "input " + std::to_string(i) + " is " +
                                                         std::string(to_string(problem.src[i]->type)) + " (needs f32)");
    if (problem.dst[0].type != ElementType::f32) return Verdict::no(Reason::element_type, "the output is not f32");
    for (size_t i = 1; i < problem.src.size() && i < 3; ++i)
        if (present(problem, i) && (i >= problem.constant.size() || !problem.constant[i]))
            return Verdict::no(Reason::needs_constant,
                               i == 1 ? "the weights are computed at run time" : "the bias is computed at run time");
    return Verdict::yes();
}

}  // namespace

bool ConvGeometry::padded() const {
    return pad_top > 0 || pad_left > 0 || (oh - 1) * stride_h - pad_top + (kh - 1) * dilation_h >= ih ||
           (ow - 1) * stride_w - pad_left + (kw - 1) * dilation_w >= iw;
}

Verdict read_conv(const Problem& problem, ConvGeometry& g) {
    if (Verdict verdict = check_shapes(problem); !verdict) return verdict;
    if (Verdict verdict = check_operands(problem); !verdict) return verdict;
    return read_windows(problem, g);
}

Verdict read_windows(const Problem& problem, ConvGeometry& g) {
    if (Verdict verdict = check_shapes(problem); !verdict) return verdict;
    const Shape& x = problem.src[0]->shape;
    const Shape& w = problem.src[1]->shape;
    const Shape& y = problem.dst[0].shape;
    const size_t spatial = x.rank() - 2;
    const bool flat = spatial == 1;
    g = {};
    g.batch = x[0], g.ic = x[1], g.oc = y[1];
    g.ih = flat ? 1 : x[2], g.iw = x.back();
    g.oh = flat ? 1 : y[2], g.ow = y.back();
    g.kh = flat ? 1 : w[2], g.kw = w.back();
    g.group = problem.attributes.integer("group", 1);
    std::tie(g.stride_h, g.stride_w) = pair_of(problem, "strides", 1, spatial);
    std::tie(g.dilation_h, g.dilation_w) = pair_of(problem, "dilations", 1, spatial);
    g.has_bias = problem.src.size() > 2 && problem.src[2].has_value();
    read_padding(problem, spatial, g);
    if (g.group < 1 || g.ic % g.group != 0 || g.oc % g.group != 0 || w[0] != g.oc || w[1] != g.ic / g.group)
        return Verdict::no(Reason::shape, "weights " + w.text() + " do not fit " + std::to_string(g.ic) +
                                              " channels in " + std::to_string(g.group) + " groups");
    if (g.stride_h < 1 || g.stride_w < 1 || g.dilation_h < 1 || g.dilation_w < 1 || g.pad_top < 0 || g.pad_left < 0)
        return Verdict::no(Reason::attribute, "strides and dilations must be positive, pads not negative");
    return Verdict::yes();
}

ConvGeometry conv_geometry(const Problem& problem) {
    ConvGeometry geometry{};
    HEADWAY_CHECK(read_conv(problem, geometry));
    return geometry;
}

Verdict read_nhwc_conv(const Problem& problem, ConvGeometry& geometry) {
    if (Verdict verdict = read_conv(problem, geometry); !verdict) return verdict;
    if (!has_nhwc_bytes(*problem.src[0]) || !has_nhwc_bytes(problem.dst[0]))
        return Verdict::no(Reason::layout, std::string(to_string(problem.src[0]->layout)) + " to " +
                                               std::string(to_string(problem.dst[0].layout)) + " (needs nhwc)");
    return Epilogue::supports(problem, Epilogue::View::pixels);
}

double conv_flops(const ConvGeometry& g) {
    return 2.0 * static_cast<double>(g.pixels()) * static_cast<double>(g.oc) * static_cast<double>(g.k());
}

double conv_bytes(const Problem& problem, const ConvGeometry& g, double weight_bytes) {
    double bytes = static_cast<double>(problem.src[0]->bytes() + problem.dst[0].bytes());
    bytes += static_cast<double>(g.oc * g.k()) * weight_bytes;
    for (const TensorDesc& operand : problem.operands) bytes += static_cast<double>(operand.bytes());
    return bytes;
}

}  // namespace headway
