// Convolutions by oneDNN, single-threaded inside our tiles: rows of an nhwc image, or blocks of output channels of a
// blocked one, are separate primitives, so that the engine's own pool owns the threads.
#include <algorithm>
#include <optional>

#include "base/checked.h"
#include "kernels/cpu/conv/geometry.h"
#include "kernels/cpu/gemm/epilogue.h"
#include "kernels/cpu/providers/onednn/library.h"

namespace headway {
namespace {

const Knob<int64_t> implementation{{
    .name = "conv.onednn_implementation",
    .help =
        "Which of the implementations that oneDNN offers for a convolution: 0 is its own choice, the others follow in "
        "its order, direct ones before Winograd.",
    .family = "kernel",
    .values = {0, 1, 2, 3},
    .numerics = Numerics::approximates,
    .scope = Scope::site,
    .witness = "conv_chain",
    .witness_route = "conv.algorithm=onednn",
}};

OnednnLayout layout_of(const TensorDesc& desc) {
    if (has_nhwc_bytes(desc)) return onednn_nhwc;
    if (desc.layout == Layout::nchw8c) return onednn_nchw8c;
    return desc.layout == Layout::nchw16c ? onednn_nchw16c : onednn_plain;
}

// The epilogue over the rows of dst: pixels of nhwc, pixels of one channel block of the blocked layouts.
class BlockedEpilogue {
public:
    static Verdict supports(const Problem& problem) {
        if (problem.epilogue.empty()) return Verdict::yes();
        if (has_nhwc_bytes(problem.dst[0])) return Epilogue::supports(problem, Epilogue::View::pixels);
        return TileProgram::supports(problem.epilogue, problem.dst[0], problem.operands, 1);
    }
    BlockedEpilogue(const Problem& problem, Isa isa) {
        if (problem.epilogue.empty()) return;
        if (has_nhwc_bytes(problem.dst[0]))
            pixels_.emplace(problem, Epilogue::View::pixels, isa);
        else
            blocks_.emplace(problem.epilogue, problem.dst[0], problem.operands, 1, isa);
    }
    void apply(const Args& args, int64_t row, int64_t rows, int64_t channels) const {
        float* dst = reinterpret_cast<float*>(args.dst[0]);
        if (pixels_) pixels_->apply(args.operands, dst, row, rows, 0, channels);
        if (!blocks_) return;
        const int64_t cols = blocks_->cols();
        blocks_->apply(args.operands, dst + row * cols, cols, row, rows, 0, cols, &dst);
    }

private:
    std::optional<Epilogue> pixels_;
    std::optional<TileProgram> blocks_;
};

// A part of one image's output and where its data lie, in floats.
struct Slice {
    OnednnConv conv;
    int64_t src = 0, dst = 0, weights = 0, bias = 0;
    int64_t row = 0, rows = 0;  // of the epilogue, within the image
};

int64_t needed_behind(int64_t in, int64_t out, int64_t kernel, int64_t stride, int64_t dilation, int64_t before) {
    return std::max<int64_t>(0, (out - 1) * stride + (kernel - 1) * dilation + 1 - before - in);
}

OnednnConv whole_image(const Problem& problem, const ConvGeometry& g, bool avx512, const Choices& choices) {
    OnednnConv c{1,
                 g.ic,
                 g.ih,
                 g.iw,
                 g.oc,
                 g.oh,
                 g.ow,
                 g.kh,
                 g.kw,
                 g.stride_h,
                 g.stride_w,
                 g.dilation_h,
                 g.dilation_w,
                 g.pad_top,
                 g.pad_left,
                 needed_behind(g.ih, g.oh, g.kh, g.stride_h, g.dilation_h, g.pad_top),
                 needed_behind(g.iw, g.ow, g.kw, g.stride_w, g.dilation_w, g.pad_left),
                 g.group,
                 g.has_bias ? 1 : 0,
                 layout_of(*problem.src[0]),
                 layout_of(problem.dst[0]),
                 avx512 ? 1 : 0,
                 static_cast<int32_t>(choices.get(implementation))};
    return c;
}

// Rows [first, last) of the output, with the input rows that they read.
Slice row_slice(const OnednnConv& whole, int64_t first, int64_t last) {
    Slice slice{whole};
    const int64_t begin = first * whole.stride_h - whole.pad_top;
    const int64_t end = (last - 1) * whole.stride_h - whole.pad_top + (whole.kh - 1) * whole.dilation_h + 1;
    const int64_t top = std::max<int64_t>(begin, 0), bottom = std::min(end, whole.ih);
    slice.conv.ih = bottom - top;
    slice.conv.oh = last - first;
    slice.conv.pad_top = top - begin;
    slice.conv.pad_bottom = std::max<int64_t>(0, end - whole.ih);
    slice.src = top * whole.iw * whole.ic;
    slice.dst = first * whole.ow * whole.oc;
    slice.row = first * whole.ow;
    slice.rows = (last - first) * whole.ow;
    return slice;
}

Slice channel_slice(const OnednnConv& whole, int64_t block, int64_t first, int64_t last) {
    Slice slice{whole};
    const int64_t pixels = whole.oh * whole.ow, oc = first * block;
    slice.conv.oc = std::min(whole.oc, last * block) - oc;
    slice.dst = oc * pixels;
    slice.weights = oc * whole.ic * whole.kh * whole.kw;
    slice.bias = oc;
    slice.row = first * pixels;
    slice.rows = (last - first) * pixels;
    return slice;
}

bool is_depthwise(const OnednnConv& c) { return c.group == c.ic && c.group == c.oc && c.group > 1; }

// Channel blocks [first, last) of a depthwise convolution, image and output in blocks.
Slice depthwise_slice(const OnednnConv& whole, int64_t block, int64_t first, int64_t last) {
    Slice slice = channel_slice(whole, block, first, last);
    slice.conv.ic = slice.conv.group = slice.conv.oc;
    slice.src = first * block * whole.ih * whole.iw;
    slice.weights = first * block * whole.kh * whole.kw;
    return slice;
}

std::vector<Slice> slices_of(const OnednnConv& whole, int64_t block, int64_t parts) {
    const bool rows = whole.src_layout == onednn_nhwc && whole.dst_layout == onednn_nhwc;
    const bool depthwise = !rows && block > 1 && is_depthwise(whole) && whole.src_layout == whole.dst_layout;
    const bool channels = depthwise || (!rows && block > 1 && whole.group == 1);
    const int64_t units = rows ? whole.oh : channels ? ceil_div(whole.oc, block) : 1;
    parts = std::min(parts, units);
    std::vector<Slice> slices;
    for (int64_t part = 0; part < parts; ++part) {
        const int64_t first = part * units / parts, last = (part + 1) * units / parts;
        if (rows)
            slices.push_back(row_slice(whole, first, last));
        else if (depthwise)
            slices.push_back(depthwise_slice(whole, block, first, last));
        else if (channels)
            slices.push_back(channel_slice(whole, block, first, last));
        else
            slices.push_back({whole, 0, 0, 0, 0, 0, ceil_div(whole.oc, block) * whole.oh * whole.ow});
    }
    // A slice of padding alone, or one that oneDNN refuses, leaves the image whole.
    const bool good =
        std::ranges::all_of(slices, [](const Slice& s) { return s.conv.ih > 0 && onednn()->find_conv(&s.conv); });
    return good || parts == 1 ? slices : slices_of(whole, block, 1);
}

class OnednnConvPrepared final : public Prepared {
public:
    OnednnConvPrepared(const Problem& problem, const Target& target, const Choices& choices, Isa isa)
        : g_(conv_geometry(problem)), epilogue_(problem, isa) {
        const int64_t block = channel_block(problem.dst[0].layout);
        slices_ = slices_of(whole_image(problem, g_, isa == Isa::avx512, choices), block, target.threads);
        for (const Slice& slice : slices_) {
            primitives_.emplace_back(onednn()->make_conv(&slice.conv));
            if (primitives_.back() == nullptr) throw UserError("oneDNN could not make a convolution it had offered");
            scratch_ = std::max(scratch_, static_cast<int64_t>(onednn()->scratch_bytes(primitives_.back().get())));
        }
        src_image_ = problem.src[0]->physical_elements() / std::max<int64_t>(1, g_.batch);
        dst_image_ = problem.dst[0].physical_elements() / std::max<int64_t>(1, g_.batch);
        // A row of the epilogue is a channel block of a pixel, or all channels of it.
        image_rows_ = (block > 1 ? ceil_div(g_.oc, block) : 1) * g_.oh * g_.ow;
    }

    void load(const std::byte* const* packed) override {
        for (size_t i = 0; i < slices_.size(); ++i)
            weights_.push_back(
                weight_set_.load(primitives_[i].get(), reinterpret_cast<const float*>(packed[0]) + slices_[i].weights));
    }
    int64_t tiles(int) const override { return g_.batch * static_cast<int64_t>(slices_.size()); }
    int64_t scratch_bytes() const override { return scratch_; }

    void run(const Args& args, int, int64_t begin, int64_t end) const override {
        const auto* src = reinterpret_cast<const float*>(args.src[0]);
        const auto* bias = g_.has_bias ? reinterpret_cast<const float*>(args.packed[1]) : nullptr;
        auto* dst = reinterpret_cast<float*>(args.dst[0]);
        for (int64_t tile = begin; tile < end; ++tile) {
            const int64_t image = tile / static_cast<int64_t>(slices_.size());
            const size_t part = static_cast<size_t>(tile) % slices_.size();
            const Slice& slice = slices_[part];
            HEADWAY_CHECK(onednn()->run(primitives_[part].get(), src + image * src_image_ + slice.src, weights_[part],
                                        bias == nullptr ? nullptr : bias + slice.bias,
                                        dst + image * dst_image_ + slice.dst, args.scratch) != 0);
            epilogue_.apply(args, image * image_rows_ + slice.row, slice.rows, g_.oc);
        }
    }

private:
    ConvGeometry g_;
    BlockedEpilogue epilogue_;
    std::vector<Slice> slices_;
    std::vector<OnednnPrimitivePointer> primitives_;
    OnednnWeightSet weight_set_;
    std::vector<const OnednnWeights*> weights_;
    int64_t scratch_ = 0, src_image_ = 0, dst_image_ = 0, image_rows_ = 0;
};

// Pairs that oneDNN's kernels know: one layout on both sides, or a plain image of few channels turned on the way.
bool known_pair(const ConvGeometry& g, OnednnLayout src, OnednnLayout dst, bool avx512) {
    constexpr int64_t most_plain_channels = 4;
    if (dst == onednn_plain || (dst == onednn_nchw16c && !avx512)) return false;
    return src == dst || (src == onednn_plain && g.ic <= most_plain_channels);
}

Verdict supports(const Problem& problem, const Target& target, const Choices& choices, Isa isa) {
    if (Verdict verdict = onednn_serves(target); !verdict) return verdict;
    ConvGeometry g{};
    if (Verdict verdict = read_conv(problem, g); !verdict) return verdict;
    if (problem.dst[0].shape.elements() == 0 || problem.src[0]->shape.elements() == 0)
        return Verdict::no(Reason::shape, "nothing to compute");
    const OnednnConv whole = whole_image(problem, g, isa == Isa::avx512, choices);
    if (!known_pair(g, static_cast<OnednnLayout>(whole.src_layout), static_cast<OnednnLayout>(whole.dst_layout),
                    isa == Isa::avx512))
        return Verdict::no(Reason::layout, std::string(to_string(problem.src[0]->layout)) + " to " +
                                               std::string(to_string(problem.dst[0].layout)));
    if (Verdict verdict = BlockedEpilogue::supports(problem); !verdict) return verdict;
    if (onednn()->find_conv(&whole) == nullptr)
        return Verdict::no(Reason::provider, "oneDNN offers no implementation " + std::to_string(whole.implementation) +
                                                 " besides reference code");
    return Verdict::yes();
}

// Shares of peak, measured by bench/kernels: its direct kernels are made for blocked layouts.
double efficiency(const OnednnConv& whole, const std::string& name) {
    if (name.find("dw") != std::string::npos) return name.find("avx512") != std::string::npos ? 0.5 : 0.25;
    if (name.find("gemm") != std::string::npos) return whole.kh * whole.kw == 1 ? 0.65 : 0.25;
    const bool blocked = whole.dst_layout != onednn_nhwc;
    if (name.find("1x1") != std::string::npos) return blocked ? 0.8 : 0.6;
    return blocked ? 0.8 : 0.35;
}

Work work_of(const Problem& problem, const Target& target, const Choices& choices, Isa isa) {
    const ConvGeometry g = conv_geometry(problem);
    const OnednnConv whole = whole_image(problem, g, isa == Isa::avx512, choices);
    const char* found = onednn()->find_conv(&whole);
    const std::string name = found == nullptr ? "" : found;
    // Output channels run along vectors in every layout. Blocks of 8 have AVX2 code only.
    const int64_t lanes = isa == Isa::avx512 && name.find("avx2") == std::string::npos ? 16 : 8;
    const double waste = static_cast<double>(round_up(g.oc, lanes)) / static_cast<double>(g.oc);
    const double narrow = isa == Isa::avx512 && lanes == 8 ? 1.0 / target.fma512 : 1;
    const double flops = conv_flops(g) * waste, bytes = conv_bytes(problem, g, 4);
    double share = efficiency(whole, name) * narrow;
    // Measured on Zen 5. Calling a primitive takes a microsecond, as long as this much work does. Short sums leave the
    // start and end of a tile visible, except where waiting for distant memory hides them.
    constexpr double call_flops = 2e5;
    share *= flops / (flops + call_flops);
    // Single blocks of output channels do not hide the loads of pixels; images in planes want whole blocks.
    if (whole.src_layout == onednn_plain && g.oc % lanes != 0)
        share *= 0.5;
    else if (whole.dst_layout != onednn_nhwc && g.taps() > 1 && g.group == 1 && g.oc <= lanes)
        share *= 0.6;
    const double k = static_cast<double>(g.group_ic());
    if (g.taps() == 1 && bytes < 4 * static_cast<double>(target.l2_bytes)) share *= k / (k + 8);
    return {flops, bytes, share};
}

Kernel::Fields onednn_conv(Isa isa, std::string_view isa_name) {
    Kernel::Fields fields;
    fields.name = "conv.onednn." + std::string(isa_name);
    fields.algorithm = "onednn";
    fields.help = "Convolution by oneDNN, one thread to a primitive.";
    fields.ops = {"Conv"};
    fields.isa = isa;
    fields.numerics = Numerics::approximates;
    fields.knobs = {&implementation};
    fields.supports = [isa](const Problem& problem, const Target& target, const Choices& choices) {
        return supports(problem, target, choices, isa);
    };
    fields.work = [isa](const Problem& problem, const Target& target, const Choices& choices) {
        return work_of(problem, target, choices, isa);
    };
    fields.pack = [](const Problem& problem, const Target&, const Choices&, std::span<const Tensor* const> constants) {
        std::vector<Tensor> packed{*constants[1]};
        if (conv_geometry(problem).has_bias) packed.push_back(*constants[2]);
        return packed;
    };
    fields.prepare = [isa](const Problem& problem, const Target& target, const Choices& choices) {
        return std::make_unique<OnednnConvPrepared>(problem, target, choices, isa);
    };
    return fields;
}

const Kernel onednn_conv_avx2{onednn_conv(Isa::avx2, "avx2")};
const Kernel onednn_conv_avx512{onednn_conv(Isa::avx512, "avx512")};

}  // namespace
}  // namespace headway
