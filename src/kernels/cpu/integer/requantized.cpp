// Exact products of quantised tensors, quantised again while they are in cache.
#include <algorithm>
#include <cstring>

#include "base/checked.h"
#include "kernels/cpu/integer/requantized_problem.h"

namespace headway {
namespace {

class Requantized final : public Prepared {
public:
    Requantized(const IntegerMicro& micro, const Problem& problem, const Choices& choices)
        : micro_(micro), tile_rows_(choices.get(integer_rows_knob)) {
        HEADWAY_CHECK(RequantizedProblem::make(problem, p_));
        panels_ = p_.panels();
        blocks_ = ceil_div(pixels(), tile_rows_);
        const ConvGeometry& g = p_.g;
        reads_in_place_ = g.taps() == 1 && g.group == 1 && g.stride_h == 1 && g.stride_w == 1 && !g.padded() &&
                          g.ic % 4 == 0 && p_.x_type != moved_a;
    }

    int64_t tiles(int) const override { return p_.g.batch * blocks_; }
    int64_t scratch_bytes() const override {
        // Rows of one group; depthwise: one pixel of zero points and the addresses of the taps.
        const int64_t depthwise = round_up(p_.g.ic, 64) + p_.g.taps() * static_cast<int64_t>(sizeof(void*));
        return p_.is_depthwise() ? std::max(depthwise, room().bytes()) : room().bytes();
    }

    void load(const std::byte* const* packed) override {
        const auto* zeros = blob<int32_t>(packed, RequantizedBlob::w_zero);
        w_moved_ = std::any_of(zeros, zeros + p_.g.oc, [](int32_t zero) { return zero != 0; });
    }

    void run(const Args& args, int, int64_t begin, int64_t end) const override {
        for (int64_t tile = begin; tile < end; ++tile) {
            const int64_t image = tile / blocks_, first = tile % blocks_ * tile_rows_;
            const int64_t count = std::min(tile_rows_, pixels() - first);
            if (p_.is_depthwise() && !w_moved_) {
                run_depthwise(args, image, first, count);
                continue;
            }
            for (int64_t group = 0; group < p_.g.group; ++group) run_group(args, image, group, first, count);
        }
    }

private:
    template <class T>
    static const T* blob(const std::byte* const* packed, RequantizedBlob which) {
        return reinterpret_cast<const T*>(packed[static_cast<size_t>(which)]);
    }
    int64_t pixels() const { return p_.g.oh * p_.g.ow; }
    IntegerRowRoom room() const { return {panels_, tile_rows_}; }
    const uint8_t* image_of(const Args& args, int64_t image) const {
        return reinterpret_cast<const uint8_t*>(args.src[0]) + image * p_.g.ih * p_.g.iw * p_.g.ic;
    }
    uint8_t* pixel_of(const Args& args, int64_t image, int64_t pixel) const {
        return reinterpret_cast<uint8_t*>(args.dst[0]) + (image * pixels() + pixel) * p_.g.oc;
    }

    void finish(const Args& args, const IntegerRow& row, int64_t channel, uint8_t* y) const {
        const auto* bounds = blob<float>(args.packed, RequantizedBlob::y_bounds);
        micro_.finish_bytes(row, blob<float>(args.packed, RequantizedBlob::scale) + channel, bounds[0], bounds[1],
                            bounds[2], y + channel);
    }

    void run_group(const Args& args, int64_t image, int64_t group, int64_t first, int64_t count) const {
        const IntegerRows rows = reads_in_place_ && !w_moved_ ? rows_in_place(args, image, first, count)
                                                              : gather(args, image, group, first, count);
        const auto* panels = blob<int8_t>(args.packed, RequantizedBlob::weights) + group * panels_.bytes();
        for (int64_t panel = 0; panel < panels_.panels(); ++panel) {
            IntegerColumns columns;
            columns.first = panel * IntegerMicro::columns;
            columns.width = std::min<int64_t>(IntegerMicro::columns, panels_.n - columns.first);
            columns.b_moved = w_moved_;
            const int64_t channel = group * panels_.n + columns.first;
            std::copy_n(blob<int32_t>(args.packed, RequantizedBlob::column) + channel, columns.width, columns.column);
            std::copy_n(blob<int32_t>(args.packed, RequantizedBlob::w_zero) + channel, columns.width, columns.b_zero);
            multiply_panel(micro_, panels_, rows, panel, panels, columns, [&](int64_t r, const IntegerRow& row) {
                finish(args, row, channel, pixel_of(args, image, first + r));
            });
        }
    }

    // The pixels themselves; nobody asks for their sums.
    IntegerRows rows_in_place(const Args& args, int64_t image, int64_t first, int64_t count) const {
        auto* sums = reinterpret_cast<int32_t*>(args.scratch);
        std::fill_n(sums, count, 0);
        return {image_of(args, image) + first * p_.g.ic, p_.g.ic, sums, count};
    }

    IntegerRows gather(const Args& args, int64_t image, int64_t group, int64_t first, int64_t count) const {
        const uint8_t flip = flip_of(p_.x_type, moved_a);
        const auto zero = static_cast<uint8_t>(*blob<int32_t>(args.packed, RequantizedBlob::x_zero) ^ flip);
        const uint8_t* x = image_of(args, image) + group * p_.g.group_ic();
        return room().rows(args.scratch, count, [&](int64_t r, uint8_t* row) {
            gather_window(x, first + r, zero, row);
            return flip != 0 || w_moved_ ? micro_.move_row(row, panels_.k, flip, row) : 0;
        });
    }

    // The window of one output pixel in the order (tap, channel); padding is the zero point.
    void gather_window(const uint8_t* x, int64_t pixel, uint8_t zero, uint8_t* row) const {
        const ConvGeometry& g = p_.g;
        const int64_t top = pixel / g.ow * g.stride_h - g.pad_top, left = pixel % g.ow * g.stride_w - g.pad_left;
        const auto depth = static_cast<size_t>(g.group_ic());
        const bool dense = g.group == 1 && g.dilation_w == 1 && left >= 0 && left + g.kw <= g.iw;
        for (int64_t i = 0; i < g.kh; ++i) {
            const int64_t line = top + i * g.dilation_h;
            const bool inside = line >= 0 && line < g.ih;
            if (dense && inside) {
                std::memcpy(row, x + (line * g.iw + left) * g.ic, static_cast<size_t>(g.kw) * depth);
                row += static_cast<size_t>(g.kw) * depth;
                continue;
            }
            for (int64_t j = 0; j < g.kw; ++j, row += depth) {
                const int64_t at = left + j * g.dilation_w;
                if (inside && at >= 0 && at < g.iw)
                    std::memcpy(row, x + (line * g.iw + at) * g.ic, depth);
                else
                    std::memset(row, zero, depth);
            }
        }
    }

    void run_depthwise(const Args& args, int64_t image, int64_t first, int64_t count) const {
        const ConvGeometry& g = p_.g;
        const uint8_t flip = flip_of(p_.x_type, moved_a);
        auto* outside = reinterpret_cast<uint8_t*>(args.scratch);
        auto* taps = reinterpret_cast<const uint8_t**>(args.scratch + round_up(g.ic, 64));
        std::fill_n(outside, g.ic, static_cast<uint8_t>(*blob<int32_t>(args.packed, RequantizedBlob::x_zero) ^ flip));
        const uint8_t* x = image_of(args, image);
        const auto* weights = blob<int8_t>(args.packed, RequantizedBlob::weights);
        const auto* column = blob<int32_t>(args.packed, RequantizedBlob::column);
        for (int64_t pixel = first; pixel < first + count; ++pixel) {
            const int64_t top = pixel / g.ow * g.stride_h - g.pad_top, left = pixel % g.ow * g.stride_w - g.pad_left;
            for (int64_t tap = 0; tap < g.taps(); ++tap) {
                const int64_t line = top + tap / g.kw * g.dilation_h, at = left + tap % g.kw * g.dilation_w;
                const bool inside = line >= 0 && line < g.ih && at >= 0 && at < g.iw;
                taps[tap] = inside ? x + (line * g.iw + at) * g.ic : outside;
            }
            for (int64_t channel = 0; channel < g.oc; channel += IntegerMicro::columns) {
                const int64_t width = std::min<int64_t>(IntegerMicro::columns, g.oc - channel);
                int32_t sums[IntegerMicro::columns];
                micro_.depthwise(taps, g.taps(), channel, width, flip, weights + channel, g.oc, sums);
                finish(args, {sums, column + channel, nullptr, 0, width}, channel, pixel_of(args, image, pixel));
            }
        }
    }

    const IntegerMicro& micro_;
    RequantizedProblem p_;
    int64_t tile_rows_;
    IntegerPanels panels_;
    int64_t blocks_ = 0;
    bool reads_in_place_ = false;
    bool w_moved_ = true;  // some zero point of the weights is not 0
};

Work work_of(const IntegerIsa& isa, const Problem& problem) {
    RequantizedProblem p;
    HEADWAY_CHECK(RequantizedProblem::make(problem, p));
    const auto bytes = static_cast<double>(problem.src[0]->bytes() + problem.dst[0].bytes() + p.g.oc * p.g.k());
    if (!p.is_depthwise()) return integer_work(isa, p.panels(), static_cast<double>(p.g.pixels() * p.g.group), bytes);
    return {.flops = conv_flops(p.g), .bytes = bytes, .efficiency = isa.isa == Isa::baseline ? 0.05 : 0.2};
}

Kernel::Fields fields_of(const IntegerIsa& isa) {
    Kernel::Fields fields;
    fields.name = "requantized.integer." + std::string(isa.name);
    fields.algorithm = "integer";
    fields.help = "Exact convolutions and products of quantised tensors, quantised again on the way out.";
    fields.ops = {"QLinearConv", "QLinearMatMul", "com.microsoft/QGemm"};
    fields.isa = isa.isa;
    // The quotient of the scales is rounded once: a value between two integers may fall on the other side.
    fields.numerics = Numerics::approximates;
    fields.knobs = {&integer_rows_knob};
    fields.supports = [&isa](const Problem& problem, const Target& target, const Choices&) {
        if (Verdict verdict = runs_on(isa, target); !verdict) return verdict;
        RequantizedProblem p;
        return RequantizedProblem::make(problem, p);
    };
    fields.work = [&isa](const Problem& problem, const Target&, const Choices&) { return work_of(isa, problem); };
    fields.pack = [](const Problem& problem, const Target&, const Choices&, std::span<const Tensor* const> constants) {
        RequantizedProblem p;
        HEADWAY_CHECK(RequantizedProblem::make(problem, p));
        return pack_requantized(p, constants);
    };
    fields.prepare = [&isa](const Problem& problem, const Target&, const Choices& choices) {
        return std::make_unique<Requantized>(isa.micro, problem, choices);
    };
    return fields;
}

const Kernel requantized_vnni{fields_of(integer_isas()[0])};
const Kernel requantized_avx2{fields_of(integer_isas()[1])};
const Kernel requantized_baseline{fields_of(integer_isas()[2])};

}  // namespace
}  // namespace headway
