// Depthwise convolutions, channel by channel: the bytes of four neighbouring pixels are interleaved, so that one
// instruction multiplies four taps of a channel, and serve as many neighbouring outputs as their windows hold.
#include <algorithm>
#include <cstring>

#include "kernels/cpu/integer/requantized_problem.h"

namespace headway {
namespace {

// The blobs, in this order.
enum Blob : size_t {
    weights_blob,  // i8 [block of channels] and then as DepthwiseTile says
    column_blob,   // i32 for each channel, in the order of DepthwiseTile
    scale_blob,    // f32, likewise
    x_zero_blob,   // one i32: what stands for 0 in x, moved
    output_blob,   // f32: highest value before the zero point is added, and the zero point
    passes_blob,   // one i32: how many bytes add up to a weight less its zero point: 3 for 255
};

// How many neighbouring outputs are computed together, from windows of how many columns.
struct Together {
    int index = 0;  // in ByteTiles::depthwise
    int64_t outputs = 1, quads = 1;

    explicit Together(const ConvGeometry& g) {
        constexpr int64_t counts[] = {1, 2, 4};
        double least = 0;
        for (int i = 0; i < 3; ++i) {
            const int64_t columns = (counts[i] - 1) * g.stride_w + (g.kw - 1) * g.dilation_w + 1;
            const int64_t needed = ceil_div(columns, 4);
            // Of four pixels: eight instructions to interleave them, four for each output.
            const double each =
                static_cast<double>(needed * (8 + 4 * counts[i])) / static_cast<double>(std::min(counts[i], g.ow));
            if (i > 0 && each >= least) continue;
            least = each;
            index = i, outputs = counts[i], quads = needed;
        }
    }
};

class RequantizedDepthwise final : public Prepared {
public:
    RequantizedDepthwise(const IntegerIsa& isa, const RequantizedProblem& problem, int64_t tile_pixels)
        : isa_(isa), p_(problem), together_(problem.g) {
        tile_pixels_ = round_up(tile_pixels, together_.outputs);
        blocks_ = ceil_div(p_.g.ow, tile_pixels_);
        columns_ = (tile_pixels_ - together_.outputs) * p_.g.stride_w + 4 * together_.quads;
        const int64_t addresses = most_passes * p_.g.kh * columns_;
        outside_at_ = round_up(addresses * static_cast<int64_t>(sizeof(void*)), 64);
    }

    int64_t tiles(int) const override { return p_.g.batch * p_.g.oh * blocks_; }
    int64_t scratch_bytes() const override { return outside_at_ + round_up(p_.g.ic, 64); }

    void run(const Args& args, int, int64_t begin, int64_t end) const override {
        const ConvGeometry& g = p_.g;
        const auto* output = blob<float>(args.packed, output_blob);
        const uint8_t flip = flip_of(p_.x_type, moved_a);
        std::memset(args.scratch + outside_at_, *blob<int32_t>(args.packed, x_zero_blob) ^ flip,
                    static_cast<size_t>(g.ic));
        const int64_t passes = *blob<int32_t>(args.packed, passes_blob);
        const int64_t block = isa_.bytes.lanes * DepthwiseTile::lane_channels;
        DepthwiseTile tile;
        tile.x = reinterpret_cast<const uint8_t* const*>(args.scratch);
        tile.x_line = columns_;
        tile.x_pixel = g.stride_w;
        tile.lines = passes * g.kh;
        tile.quads = together_.quads;
        tile.x_flip = flip;
        tile.out = p_.output(output[0], output[1]);
        tile.y_step = g.oc;
        for (int64_t at = begin; at < end; ++at) {
            const int64_t line = at / blocks_, first = at % blocks_ * tile_pixels_;
            tile.pixels = std::min(tile_pixels_, g.ow - first);
            tile.y = reinterpret_cast<uint8_t*>(args.dst[0]) + (line * g.ow + first) * g.oc;
            point(args, line, first, tile.pixels, passes);
            for (int64_t channel = 0; channel < g.oc; channel += block) {
                tile.first = channel;
                tile.width = std::min(block, g.oc - channel);
                tile.weights =
                    blob<int8_t>(args.packed, weights_blob) + channel * tile.lines * tile.quads * together_.outputs * 4;
                tile.column = blob<int32_t>(args.packed, column_blob) + channel;
                tile.scale = blob<float>(args.packed, scale_blob) + channel;
                isa_.bytes.depthwise[together_.index](tile);
            }
        }
    }

private:
    static constexpr int64_t most_passes = 3;

    template <class T>
    static const T* blob(const std::byte* const* packed, Blob which) {
        return reinterpret_cast<const T*>(packed[which]);
    }

    // The addresses of the pixels under the windows of `pixels` outputs; padding is a pixel of zero points.
    void point(const Args& args, int64_t line, int64_t first, int64_t pixels, int64_t passes) const {
        const ConvGeometry& g = p_.g;
        auto* to = reinterpret_cast<const uint8_t**>(args.scratch);
        const auto* outside = reinterpret_cast<const uint8_t*>(args.scratch + outside_at_);
        const uint8_t* x = reinterpret_cast<const uint8_t*>(args.src[0]) + line / g.oh * g.ih * g.iw * g.ic;
        const int64_t top = line % g.oh * g.stride_h - g.pad_top, left = first * g.stride_w - g.pad_left;
        const int64_t needed =
            (round_up(pixels, together_.outputs) - together_.outputs) * g.stride_w + 4 * together_.quads;
        // Columns before the image's, then its own.
        const int64_t before = std::clamp<int64_t>(-left, 0, needed);
        const int64_t own = std::clamp<int64_t>(g.iw - left, before, needed);
        for (int64_t pass = 0; pass < passes; ++pass)
            for (int64_t i = 0; i < g.kh; ++i, to += columns_) {
                const int64_t row = top + i * g.dilation_h;
                if (row < 0 || row >= g.ih) {
                    std::fill_n(to, needed, outside);
                    continue;
                }
                std::fill_n(to, before, outside);
                const int64_t base = (row * g.iw + left) * g.ic;
                for (int64_t column = before; column < own; ++column) to[column] = x + (base + column * g.ic);
                std::fill(to + own, to + needed, outside);
            }
    }

    const IntegerIsa& isa_;
    RequantizedProblem p_;
    Together together_;
    int64_t tile_pixels_ = 1, blocks_ = 0, columns_ = 0, outside_at_ = 0;
};

}  // namespace

std::vector<Tensor> pack_requantized_depthwise(const IntegerIsa& isa, const RequantizedProblem& p,
                                               std::span<const Tensor* const> constants) {
    const ConvGeometry& g = p.g;
    const RequantizedTerms terms = requantized_terms(p, constants);
    const Together together(g);
    const uint8_t flip = flip_of(p.w_type, moved_b);
    const int64_t lanes = isa.bytes.lanes, block = lanes * DepthwiseTile::lane_channels;
    const auto value = [&](int64_t channel, int64_t tap) {
        const auto bits =
            static_cast<uint8_t>(static_cast<uint8_t>(requantized_weight(p, *constants[p.w], channel, tap, 0)) ^ flip);
        return static_cast<int8_t>(bits) - terms.w_zero[static_cast<size_t>(channel)];
    };
    // The part of a value that a pass takes, and leaves less of.
    const auto take = [](int32_t& rest) {
        const int32_t part = std::clamp(rest, -128, 127);
        rest -= part;
        return static_cast<int8_t>(part);
    };
    int32_t passes = 1;
    for (int64_t channel = 0; channel < g.oc; ++channel)
        for (int64_t tap = 0; tap < g.taps(); ++tap) {
            int32_t rest = value(channel, tap), parts = 0;
            for (; parts == 0 || rest != 0; ++parts) take(rest);
            passes = std::max(passes, parts);
        }
    const int64_t lines = passes * g.kh, window = lines * together.quads * together.outputs * 4;
    const Shape padded{round_up(g.oc, block)};
    Tensor weights(ElementType::i8, {padded[0], window});
    Tensor column(ElementType::i32, padded), scale(ElementType::f32, padded);
    for (int64_t channel = 0; channel < g.oc; ++channel) {
        const int64_t first = channel / block * block, position = depthwise_position(channel % block, lanes);
        int64_t sum = 0;
        for (int64_t tap = 0; tap < g.taps(); ++tap) {
            int32_t rest = value(channel, tap);
            sum += rest;
            for (int64_t pass = 0; pass < passes; ++pass) {
                const int8_t part = take(rest);
                for (int64_t output = 0; output < together.outputs; ++output) {
                    const int64_t at = output * g.stride_w + tap % g.kw * g.dilation_w;
                    const int64_t line = pass * g.kh + tap / g.kw;
                    const int64_t tile = (line * together.quads + at / 4) * together.outputs + output;
                    const int64_t to = first * window + (tile * block + position) * 4 + at % 4;
                    weights.mutable_data<int8_t>()[static_cast<size_t>(to)] = part;
                }
            }
        }
        const auto i = static_cast<size_t>(channel), to = static_cast<size_t>(first + position);
        column.mutable_data<int32_t>()[to] =
            static_cast<int32_t>(static_cast<uint32_t>(terms.bias[i]) - static_cast<uint32_t>(terms.x_zero * sum));
        scale.mutable_data<float>()[to] = terms.scale[i];
    }
    std::vector<Tensor> blobs;
    for (Tensor* tensor : {&weights, &column, &scale}) blobs.push_back(std::move(*tensor));
    const float output[] = {terms.high, terms.zero};
    blobs.push_back(Tensor::of<int32_t>({1}, std::span(&terms.x_zero, 1)));
    blobs.push_back(Tensor::of<float>({2}, output));
    blobs.push_back(Tensor::of<int32_t>({1}, std::span(&passes, 1)));
    return blobs;
}

std::unique_ptr<Prepared> prepare_requantized_depthwise(const IntegerIsa& isa, const RequantizedProblem& problem,
                                                        int64_t tile_pixels) {
    return std::make_unique<RequantizedDepthwise>(isa, problem, tile_pixels);
}

}  // namespace headway
