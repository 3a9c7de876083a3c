#include "kernels/cpu/pool/pool_window.h"

#include <algorithm>

#include "base/checked.h"

namespace headway {
namespace {

std::vector<int64_t> or_ones(const Attributes& attributes, const char* name, size_t count) {
    return attributes.integers(name, std::vector<int64_t>(count, 1));
}

// Pads of auto_pad, or as given; begin for every axis, then end.
Verdict pads_of(const Problem& problem, const std::vector<PoolAxis>& axes, std::vector<int64_t>& pads) {
    const std::string mode = problem.attributes.text("auto_pad", "NOTSET");
    const size_t count = axes.size();
    pads = problem.attributes.integers("pads", std::vector<int64_t>(2 * count, 0));
    if (mode == "NOTSET") return pads.size() == 2 * count ? Verdict::yes() : Verdict::no(Reason::attribute, "pads");
    pads.assign(2 * count, 0);
    if (mode == "VALID") return Verdict::yes();
    if (mode != "SAME_UPPER" && mode != "SAME_LOWER") return Verdict::no(Reason::attribute, "auto_pad " + mode);
    for (size_t i = 0; i < count; ++i) {
        const int64_t extent = (axes[i].kernel - 1) * axes[i].dilation + 1;
        const int64_t total = std::max<int64_t>(0, (axes[i].out - 1) * axes[i].stride + extent - axes[i].in);
        pads[i] = mode == "SAME_UPPER" ? total / 2 : total - total / 2;
        pads[count + i] = total - pads[i];
    }
    return Verdict::yes();
}

// Every window must reach the input, or there is nothing to take a maximum of.
Verdict check_reach(const PoolAxis& axis) {
    if (axis.kernel < 1 || axis.stride < 1 || axis.dilation < 1 || axis.pad_begin < 0 || axis.pad_end < 0)
        return Verdict::no(Reason::attribute, "kernel, stride, dilation or pads");
    for (int64_t o = 0; o < axis.out; ++o)
        if (axis.taps(o).count < 1) return Verdict::no(Reason::shape, "a window that misses the input");
    return Verdict::yes();
}

}  // namespace

PoolAxis::Taps PoolAxis::taps(int64_t output) const {
    const int64_t start = output * stride - pad_begin;
    const int64_t skipped = start < 0 ? ceil_div(-start, dilation) : 0;
    const auto inside = [&](int64_t end) {
        return start >= end ? 0 : std::min(kernel, ceil_div(end - start, dilation));
    };
    Taps taps;
    taps.first = start + skipped * dilation;
    taps.count = std::max<int64_t>(0, inside(in) - skipped);
    taps.padded = inside(in + pad_end);
    return taps;
}

Verdict PoolWindow::make(const Problem& problem, PoolWindow& window) {
    const Shape& src = problem.src[0]->shape;
    const Shape& dst = problem.dst[0].shape;
    if (src.rank() < 3 || src.rank() > 4 || dst.rank() != src.rank())
        return Verdict::no(Reason::shape, "rank " + std::to_string(src.rank()));
    if (src[0] != dst[0] || src[1] != dst[1]) return Verdict::no(Reason::shape, src.text() + " to " + dst.text());
    const size_t count = src.rank() - 2;
    const std::vector<int64_t> kernel = problem.attributes.integers("kernel_shape");
    const std::vector<int64_t> strides = or_ones(problem.attributes, "strides", count),
                               dilations = or_ones(problem.attributes, "dilations", count);
    if (kernel.size() != count || strides.size() != count || dilations.size() != count)
        return Verdict::no(Reason::attribute, "kernel_shape, strides or dilations");
    std::vector<PoolAxis> axes;
    for (size_t i = 0; i < count; ++i)
        axes.push_back({src[i + 2], dst[i + 2], kernel[i], strides[i], dilations[i], 0, 0});
    std::vector<int64_t> pads;
    if (Verdict verdict = pads_of(problem, axes, pads); !verdict) return verdict;
    for (size_t i = 0; i < count; ++i) {
        axes[i].pad_begin = pads[i];
        axes[i].pad_end = pads[count + i];
        if (Verdict verdict = check_reach(axes[i]); !verdict) return verdict;
    }
    window = {problem.op == "AveragePool", problem.attributes.integer("count_include_pad", 0) != 0, {}, axes.back()};
    if (count == 2) window.y = axes[0];
    return Verdict::yes();
}

}  // namespace headway
