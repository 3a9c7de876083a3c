#include "kernels/cpu/depthwise/depthwise.h"

#include <algorithm>

#include "base/checked.h"
#include "kernels/cpu/conv/geometry.h"
#include "kernels/cpu/conv/pixels.h"
#include "kernels/cpu/gemm/epilogue.h"

namespace headway {
namespace {

const Knob<int64_t> strip_pixels_knob{{
    .name = "conv.depthwise_pixels",
    .help = "Neighbouring output pixels that a depthwise convolution computes together.",
    .family = "kernel",
    .values = {8, 4, 5, 6, 7},
    .scope = Scope::site,
    .witness = "conv_depthwise",
}};

const Knob<int64_t> tile_work_knob{{
    .name = "conv.depthwise_tile_kmacs",
    .help =
        "Most multiply-adds, in thousands, of a unit of scheduling of a depthwise convolution. Units of many rows read "
        "fewer rows of the image twice; from 256 on they are smaller where threads would have too few.",
    .family = "kernel",
    .values = {2048, 32, 64, 128, 256, 512},
    .scope = Scope::site,
    .witness = "conv_depthwise",
}};

const Knob<int64_t> channels_knob{{
    .name = "conv.depthwise_channels",
    .help =
        "Channels that a depthwise convolution takes through all rows of a unit of scheduling before the next ones. "
        "0 = as many as keep the image rows under a kernel in half of the first-level cache, at least 64, or all where "
        "few rows serve two rows of outputs.",
    .family = "kernel",
    .values = {0, 16, 64, 256, 1048576},
    .scope = Scope::site,
    .witness = "conv_depthwise",
}};

// Taps of a kernel axis that lie inside the image for one output position.
struct TapRange {
    int64_t begin, end;
};
TapRange taps_inside(int64_t first, int64_t dilation, int64_t taps, int64_t limit) {
    const PixelRange range = pixels_inside(first, dilation, taps, limit);
    return {range.begin, range.end};
}

constexpr int64_t float_bytes = sizeof(float);

// Blocks of channels that follow one another in memory as whole images do; the pixels of nhwc are one block.
int64_t channel_blocks(const Problem& problem) {
    const int64_t block = channel_block(problem.dst[0].layout);
    return block > 1 ? ceil_div(problem.dst[0].shape[1], block) : 1;
}

// Channel blocks seen as the batch of an image of so many channels.
ConvGeometry seen_geometry(const Problem& problem) {
    ConvGeometry g = conv_geometry(problem);
    const int64_t block = channel_block(problem.dst[0].layout);
    if (block > 1) {
        g.batch *= channel_blocks(problem);
        g.ic = g.oc = g.group = block;
    }
    return g;
}

class Depthwise final : public Prepared {
public:
    Depthwise(const DepthwiseStrips& strips, Isa isa, const Problem& problem, const Target& target,
              const Choices& choices)
        : g_(seen_geometry(problem)),
          channel_blocks_(channel_blocks(problem)),
          strips_(strips),
          shared_(shared_strips(strips, g_)),
          epilogue_(problem, Epilogue::View::pixels, isa),
          most_pixels_(choices.get(strip_pixels_knob)),
          multiplier_(g_.ic == 0 ? 1 : g_.oc / g_.ic) {
        choose_block(target, choices.get(tile_work_knob));
        channels_ = std::max<int64_t>(1, g_.oc);
        const int64_t wanted = choices.get(channels_knob);
        const bool rows_serve_twice = g_.kh >= 2 * g_.stride_h;
        if (multiplier_ == 1 && (wanted > 0 || rows_serve_twice)) {
            // Single cache lines far apart are read and written slowly even from the second-level cache (on Zen 5).
            constexpr int64_t fewest = 64;
            const int64_t cached =
                std::max(fewest, target.l1_bytes / 2 / std::max<int64_t>(1, g_.kh * g_.iw * float_bytes));
            channels_ = std::clamp((wanted > 0 ? wanted : cached) / strips.lanes * strips.lanes, int64_t{strips.lanes},
                                   round_up(channels_, strips.lanes));
        }
        // where all columns of the kernel are inside the image
        const int64_t reach = (g_.kw - 1) * g_.dilation_w;
        const int64_t last = g_.iw - 1 - reach + g_.pad_left;
        inner_begin_ = std::min(g_.ow, ceil_div(g_.pad_left, g_.stride_w));
        inner_end_ = last < 0 ? inner_begin_ : std::clamp(last / g_.stride_w + 1, inner_begin_, g_.ow);
    }

    int64_t tiles(int) const override { return g_.pixels() == 0 ? 0 : ceil_div(g_.pixels(), block_); }
    // With several outputs for each input channel, the part of the image under a block's row is repeated there.
    int64_t scratch_bytes() const override { return multiplier_ == 1 ? 0 : g_.ih * g_.iw * g_.oc * float_bytes; }

    void run(const Args& args, int, int64_t begin, int64_t end) const override {
        float* dst = reinterpret_cast<float*>(args.dst[0]);
        for (int64_t tile = begin; tile < end; ++tile) {
            const PixelBlock block{tile * block_, std::min(block_, g_.pixels() - tile * block_)};
            for (int64_t channel = 0; channel < g_.oc; channel += channels_)
                for_each_stretch(g_, block, [&](const PixelStretch& stretch) {
                    run_stretch(args, stretch, channel, dst + (block.pixel + stretch.at) * g_.oc + channel);
                });
            epilogue_.apply(args.operands, dst, block.pixel, block.count, 0, g_.oc);
        }
    }

private:
    void choose_block(const Target& target, int64_t most_kmacs) {
        constexpr int64_t fewest_kmacs = 256, units_a_thread = 3;
        const int64_t macs = std::max<int64_t>(1, g_.oc * g_.taps()), pixels = std::max<int64_t>(1, g_.pixels());
        const int64_t share = target.threads == 1 ? pixels : pixels / (units_a_thread * target.threads);
        // The epilogue finds the outputs in the second-level cache.
        const int64_t cached = target.l2_bytes / 2 / std::max<int64_t>(1, g_.oc * float_bytes);
        const int64_t wanted = std::max(std::min(share, cached), fewest_kmacs * 1000 / macs);
        block_ = std::clamp<int64_t>(std::min(wanted, most_kmacs * 1000 / macs), 1, pixels);
        // Equal shares of whole rows.
        if (block_ > g_.ow) block_ = ceil_div(g_.batch * g_.oh, ceil_div(pixels, block_)) * g_.ow;
    }

    // Part of one output row: its rows of taps are the same, columns differ only near the edges.
    void run_stretch(const Args& args, const PixelStretch& stretch, int64_t channel, float* dst) const {
        const float* image = image_of(args, stretch) + channel;
        channel += stretch.image % channel_blocks_ * g_.oc;
        const int64_t ih = stretch.oh * g_.stride_h - g_.pad_top;
        const TapRange rows = taps_inside(ih, g_.dilation_h, g_.kh, g_.ih);
        const int64_t end = stretch.ow + stretch.count;
        if (shared_ != nullptr) {
            run_strips(args, image, channel, ih, stretch.ow * g_.stride_w - g_.pad_left, rows, stretch.count, dst);
            return;
        }
        for (int64_t ow = stretch.ow; ow < end;) {
            float* to = dst + (ow - stretch.ow) * g_.oc;
            const int64_t iw = ow * g_.stride_w - g_.pad_left;
            if (ow >= inner_begin_ && ow < inner_end_) {
                const int64_t pixels = std::min(end, inner_end_) - ow;
                run_strips(args, image, channel, ih, iw, rows, pixels, to);
                ow += pixels;
            } else {
                DepthwiseStrip strip =
                    make_strip(args, image, channel, ih, iw, rows, taps_inside(iw, g_.dilation_w, g_.kw, g_.iw));
                strip.dst = to;
                strips_.any[1](strip);
                ++ow;
            }
        }
    }

    // Neighbouring pixels in strips of nearly equal length. Nothing is divided for each strip: few channels make a
    // strip as short as a few divisions.
    void run_strips(const Args& args, const float* image, int64_t channel, int64_t ih, int64_t iw, TapRange rows,
                    int64_t pixels, float* dst) const {
        const int64_t count = ceil_div(pixels, most_pixels_), length = pixels / count, longer = pixels % count;
        DepthwiseStrip strip = make_strip(args, image, channel, ih, iw, rows, {0, g_.kw});
        strip.dst = dst;
        for (int64_t t = 0; t < count; ++t) {
            const int64_t part = length + (t < longer ? 1 : 0);
            strip.begin = -iw;
            strip.end = g_.iw - iw;
            const bool inside = iw >= 0 && (part - 1) * g_.stride_w + g_.kw <= strip.end;
            (shared_ == nullptr ? strips_.any : inside ? shared_->inside : shared_->edge)[part](strip);
            iw += part * g_.stride_w;
            strip.src += part * strip.pixel_step;
            strip.dst += part * g_.oc;
        }
    }

    DepthwiseStrip make_strip(const Args& args, const float* image, int64_t channel, int64_t ih, int64_t iw,
                              TapRange rows, TapRange columns) const {
        DepthwiseStrip strip{};
        strip.rows = rows.end - rows.begin;
        strip.columns = columns.end - columns.begin;
        strip.src = image;
        if (strip.rows <= 0 || strip.columns <= 0)
            strip.rows = strip.columns = 0;
        else
            strip.src += ((ih + rows.begin * g_.dilation_h) * g_.iw + iw + columns.begin * g_.dilation_w) * g_.oc;
        strip.pixel_step = g_.stride_w * g_.oc;
        strip.row_step = g_.dilation_h * g_.iw * g_.oc;
        strip.column_step = g_.dilation_w * g_.oc;
        strip.weights = reinterpret_cast<const float*>(args.packed[0]) + channel * g_.taps() +
                        (rows.begin * g_.kw + columns.begin) * strips_.lanes;
        strip.weight_row_step = g_.kw * strips_.lanes;
        strip.weight_block_step = g_.taps() * strips_.lanes;
        strip.init = reinterpret_cast<const float*>(args.packed[1]) + channel;
        strip.dst_step = g_.oc;
        strip.channels = std::min(channels_, g_.oc - channel % g_.oc);
        return strip;
    }

    // Strips whose windows share pixels, or nullptr where none are made for these windows.
    static const DepthwiseStrips::Shared* shared_strips(const DepthwiseStrips& strips, const ConvGeometry& g) {
        if (g.dilation_w != 1 || g.stride_w > 2) return nullptr;
        const bool one = g.stride_w == 1;
        if (g.kw == 3) return one ? &strips.three_by_one : &strips.three_by_two;
        if (g.kw == 5) return one ? &strips.five_by_one : &strips.five_by_two;
        if (g.kw == 7) return one ? &strips.seven_by_one : &strips.seven_by_two;
        return nullptr;
    }

    // The image with as many channels as the output.
    const float* image_of(const Args& args, const PixelStretch& stretch) const {
        const int64_t pixels = g_.ih * g_.iw;
        const float* image = reinterpret_cast<const float*>(args.src[0]) + stretch.image * pixels * g_.ic;
        if (multiplier_ == 1) return image;
        float* repeated = reinterpret_cast<float*>(args.scratch);
        const TapRange rows = taps_inside(stretch.oh * g_.stride_h - g_.pad_top, g_.dilation_h, g_.kh, g_.ih);
        for (int64_t y = rows.begin; y < rows.end; ++y) {
            const int64_t line = (stretch.oh * g_.stride_h - g_.pad_top + y * g_.dilation_h) * g_.iw;
            for (int64_t i = line * g_.ic; i < (line + g_.iw) * g_.ic; ++i)
                std::fill_n(repeated + i * multiplier_, multiplier_, image[i]);
        }
        return repeated;
    }

    ConvGeometry g_;
    int64_t channel_blocks_;  // of an image, each an image of the batch in g_
    const DepthwiseStrips& strips_;
    const DepthwiseStrips::Shared* shared_;
    Epilogue epilogue_;
    int64_t most_pixels_, multiplier_;
    int64_t channels_ = 1, block_ = 1, inner_begin_ = 0, inner_end_ = 0;
};

int64_t padded_channels(const Problem& problem) {
    return round_up(problem.dst[0].shape[1], std::max<int64_t>(1, channel_block(problem.dst[0].layout)));
}

std::vector<Tensor> pack(const DepthwiseStrips& strips, const Problem& problem,
                         std::span<const Tensor* const> constants) {
    const ConvGeometry g = conv_geometry(problem);
    const int64_t lanes = strips.lanes;
    const int64_t blocks = ceil_div(padded_channels(problem), lanes);
    Tensor weights(ElementType::f32, Shape{blocks * g.taps() * lanes}), init(ElementType::f32, Shape{blocks * lanes});
    const std::span<const float> source = constants[1]->data<float>();
    const std::span<float> packed = weights.mutable_data<float>();
    for (int64_t c = 0; c < g.oc; ++c) {
        for (int64_t tap = 0; tap < g.taps(); ++tap)
            packed[static_cast<size_t>((c / lanes * g.taps() + tap) * lanes + c % lanes)] =
                source[static_cast<size_t>(c * g.taps() + tap)];
        if (g.has_bias)
            init.mutable_data<float>()[static_cast<size_t>(c)] = constants[2]->data<float>()[static_cast<size_t>(c)];
    }
    return {std::move(weights), std::move(init)};
}

Verdict supports(const DepthwiseStrips& strips, const Problem& problem) {
    ConvGeometry g{};
    if (Verdict verdict = read_conv(problem, g); !verdict) return verdict;
    const Layout src = problem.src[0]->layout, dst = problem.dst[0].layout;
    const bool pixels = has_nhwc_bytes(*problem.src[0]) && has_nhwc_bytes(problem.dst[0]);
    const bool blocks = src == dst && channel_block(dst) > 1 && channel_block(dst) % strips.lanes == 0 && g.ic == g.oc;
    if (!pixels && !blocks)
        return Verdict::no(Reason::layout,
                           std::string(to_string(src)) + " to " + std::string(to_string(dst)) +
                               " (needs nhwc, or as many channels in the same blocks of whole vectors)");
    if (g.group_ic() != 1 || g.group == 1)
        return Verdict::no(Reason::attribute, std::to_string(g.group_ic()) + " channels in each of " +
                                                  std::to_string(g.group) +
                                                  " groups (needs 1 channel, several groups)");
    return Epilogue::supports(problem, Epilogue::View::pixels);
}

Work work_of(const DepthwiseStrips& strips, const Problem& problem) {
    const ConvGeometry g = conv_geometry(problem);
    const double waste =
        g.oc == 0 ? 1
                  : static_cast<double>(round_up(padded_channels(problem), strips.lanes)) / static_cast<double>(g.oc);
    // Loads share the work of the multiply-adds; repeating channels costs about as much again. Measured.
    const double efficiency = g.oc == g.ic ? 0.5 : 0.2;
    return {conv_flops(g) * waste, conv_bytes(problem, g, 4), efficiency};
}

}  // namespace

Kernel::Fields depthwise_conv(Isa isa, std::string_view isa_name, const DepthwiseStrips& strips) {
    Kernel::Fields fields;
    fields.name = "conv.depthwise." + std::string(isa_name);
    fields.algorithm = "depthwise";
    fields.help =
        "Convolution with one input channel in each group, channels in vectors and a few pixels in registers.";
    fields.ops = {"Conv"};
    fields.isa = isa;
    fields.knobs = {&strip_pixels_knob, &tile_work_knob, &channels_knob};
    fields.supports = [&strips](const Problem& problem, const Target&, const Choices&) {
        return supports(strips, problem);
    };
    fields.work = [&strips](const Problem& problem, const Target&, const Choices&) { return work_of(strips, problem); };
    fields.pack = [&strips](const Problem& problem, const Target&, const Choices&,
                            std::span<const Tensor* const> constants) { return pack(strips, problem, constants); };
    fields.prepare = [isa, &strips](const Problem& problem, const Target& target, const Choices& choices) {
        return std::make_unique<Depthwise>(strips, isa, problem, target, choices);
    };
    return fields;
}

namespace {

const Kernel depthwise_baseline{depthwise_conv(Isa::baseline, "baseline", depthwise_strips(Isa::baseline))};
const Kernel depthwise_avx2{depthwise_conv(Isa::avx2, "avx2", depthwise_strips(Isa::avx2))};
const Kernel depthwise_avx512{depthwise_conv(Isa::avx512, "avx512", depthwise_strips(Isa::avx512))};

}  // namespace
}  // namespace headway
