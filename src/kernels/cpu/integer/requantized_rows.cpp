// Rows times panels. Rows of four or more channels are read where the image has them, tap by tap; others are copied to
// scratch memory first: the lines of the image under a run of output pixels, or windows one by one.
#include <algorithm>
#include <cstring>

#include "kernels/cpu/integer/requantized_problem.h"

namespace headway {
namespace {

// The blobs, in this order.
enum Blob : size_t {
    weights_blob,  // panels of each group, k in the order (tap, channel), each segment filled up with zeros
    column_blob,   // i32 for each column of each group's panels: what zero points and bias add to its sums
    w_zero_blob,   // i32, likewise
    scale_blob,    // f32, likewise
    x_zero_blob,   // one i32: what stands for 0 in x, moved
    output_blob,   // f32: highest value before the zero point is added, and the zero point
};

class RequantizedRows final : public Prepared {
public:
    RequantizedRows(const IntegerIsa& isa, const RequantizedProblem& problem, int64_t tile_rows)
        : isa_(isa), p_(problem), panels_(problem.panels()), form_(problem.row_form()), tile_rows_(tile_rows) {
        const ConvGeometry& g = p_.g;
        // A band serves pixels of one line.
        line_pixels_ = form_ == RowForm::band ? g.ow : g.oh * g.ow;
        blocks_ = ceil_div(line_pixels_, tile_rows_);
        if (form_ == RowForm::in_place)
            for (int64_t tap = 0; tap < g.taps(); ++tap)
                tap_offsets_.push_back((tap / g.kw * g.dilation_h * g.iw + tap % g.kw * g.dilation_w) * g.ic);
        band_step_ = ((tile_rows_ - 1) * g.stride_w + g.kw) * g.ic;
        // A gathered row; when the weights have zero points, any row may be one, as its sum is needed.
        row_step_ = p_.row_bytes();
        outside_at_ = round_up(tile_rows_ * p_.segments() * static_cast<int64_t>(sizeof(void*)), 64);
        rows_at_ = outside_at_ + round_up(g.ic, 64);
        // Four more bytes: the last segment of a band is read in whole quads.
        const int64_t copies = std::max(tile_rows_ * row_step_, form_ == RowForm::band ? g.kh * band_step_ + 4 : 0);
        sums_at_ = rows_at_ + round_up(copies, 64);
    }

    int64_t tiles(int) const override { return p_.g.batch * lines() * blocks_; }
    int64_t scratch_bytes() const override { return sums_at_ + tile_rows_ * static_cast<int64_t>(sizeof(int32_t)); }

    void load(const std::byte* const* packed) override {
        const auto* zeros = blob<int32_t>(packed, w_zero_blob);
        w_moved_ = std::any_of(zeros, zeros + p_.g.group * p_.panel_columns(), [](int32_t zero) { return zero != 0; });
    }

    void run(const Args& args, int, int64_t begin, int64_t end) const override {
        const ConvGeometry& g = p_.g;
        const auto zero = static_cast<uint8_t>(*blob<int32_t>(args.packed, x_zero_blob) ^ flip());
        std::memset(args.scratch + outside_at_, zero, static_cast<size_t>(g.ic));
        for (int64_t tile = begin; tile < end; ++tile) {
            const int64_t line = tile / blocks_, start = tile % blocks_ * tile_rows_;
            Run run;
            run.x = reinterpret_cast<const uint8_t*>(args.src[0]) + line / lines() * g.ih * g.iw * g.ic;
            run.first = line % lines() * line_pixels_ + start;
            run.count = std::min(tile_rows_, line_pixels_ - start);
            run.y = reinterpret_cast<uint8_t*>(args.dst[0]) + (line / lines() * g.oh * g.ow + run.first) * g.oc;
            run.zero = zero;
            multiply(args, run);
        }
    }

private:
    using RowForm = RequantizedProblem::RowForm;

    // Output pixels of one image.
    struct Run {
        const uint8_t* x;
        uint8_t* y;
        int64_t first, count;
        uint8_t zero;
    };

    template <class T>
    static const T* blob(const std::byte* const* packed, Blob which) {
        return reinterpret_cast<const T*>(packed[which]);
    }
    uint8_t flip() const { return flip_of(p_.x_type, moved_a); }
    int64_t lines() const { return form_ == RowForm::band ? p_.g.oh : 1; }
    bool is_gathered() const { return w_moved_ || form_ == RowForm::gathered; }

    void multiply(const Args& args, const Run& run) const {
        const ConvGeometry& g = p_.g;
        const auto* output = blob<float>(args.packed, output_blob);
        auto* rows = reinterpret_cast<const uint8_t**>(args.scratch);
        ByteTile tile;
        tile.segments = p_.segments();
        tile.quads = p_.segment_step() / 4;
        tile.a_flip = w_moved_ ? 0 : flip();
        tile.out = p_.output(output[0], output[1]);
        tile.y_step = g.oc;
        if (!is_gathered()) {
            if (form_ == RowForm::band)
                copy_band(args, run, rows);
            else
                point(args, run, rows);
        }
        for (int64_t group = 0; group < g.group; ++group) {
            if (is_gathered()) gather(args, run, group, rows);
            tile.a_offset = is_gathered() ? 0 : group * g.group_ic();
            multiply_group(args, run, group, rows, tile);
        }
    }

    void multiply_group(const Args& args, const Run& run, int64_t group, const uint8_t* const* rows,
                        ByteTile& tile) const {
        const ByteTiles& micro = isa_.bytes;
        const auto* sums = reinterpret_cast<const int32_t*>(args.scratch + sums_at_);
        for (int64_t panel = 0; panel < panels_.panels(); ++panel) {
            const int64_t first = panel * IntegerMicro::columns, column = group * p_.panel_columns() + first;
            tile.width = std::min<int64_t>(IntegerMicro::columns, panels_.n - first);
            tile.b = blob<int8_t>(args.packed, weights_blob) + group * panels_.bytes() + panel * panels_.panel_bytes();
            tile.column = blob<int32_t>(args.packed, column_blob) + column;
            tile.scale = blob<float>(args.packed, scale_blob) + column;
            tile.b_zero = w_moved_ ? blob<int32_t>(args.packed, w_zero_blob) + column : nullptr;
            const auto& by_height = tile.width <= ByteTile::narrow_columns ? micro.narrow : micro.wide;
            for (int64_t row = 0; row < run.count; row += micro.rows) {
                tile.a = rows + row * tile.segments;
                tile.a_sums = sums + row;
                tile.y = run.y + row * p_.g.oc + group * panels_.n + first;
                by_height[std::min<int64_t>(micro.rows, run.count - row)](tile);
            }
        }
    }

    // The taps of each pixel where they are; padding is a pixel of zero points.
    void point(const Args& args, const Run& run, const uint8_t** rows) const {
        const ConvGeometry& g = p_.g;
        const auto* outside = reinterpret_cast<const uint8_t*>(args.scratch + outside_at_);
        const int64_t high = (g.kh - 1) * g.dilation_h, wide = (g.kw - 1) * g.dilation_w, taps = g.taps();
        const int64_t* offsets = tap_offsets_.data();
        int64_t oy = run.first / g.ow, ox = run.first % g.ow;
        for (int64_t r = 0; r < run.count; ++r, rows += taps) {
            const int64_t top = oy * g.stride_h - g.pad_top, left = ox * g.stride_w - g.pad_left;
            const int64_t corner = (top * g.iw + left) * g.ic;
            if (top >= 0 && left >= 0 && top + high < g.ih && left + wide < g.iw)
                for (int64_t tap = 0; tap < taps; ++tap) rows[tap] = run.x + (corner + offsets[tap]);
            else
                for (int64_t tap = 0; tap < taps; ++tap) {
                    const int64_t line = top + tap / g.kw * g.dilation_h, at = left + tap % g.kw * g.dilation_w;
                    const bool inside = line >= 0 && line < g.ih && at >= 0 && at < g.iw;
                    rows[tap] = inside ? run.x + (corner + offsets[tap]) : outside;
                }
            if (++ox == g.ow) ox = 0, ++oy;
        }
    }

    // The lines under the run's windows, with their padding.
    void copy_band(const Args& args, const Run& run, const uint8_t** rows) const {
        const ConvGeometry& g = p_.g;
        auto* band = reinterpret_cast<uint8_t*>(args.scratch + rows_at_);
        const int64_t top = run.first / g.ow * g.stride_h - g.pad_top;
        const int64_t left = run.first % g.ow * g.stride_w - g.pad_left;
        const int64_t width = (run.count - 1) * g.stride_w + g.kw;
        const int64_t before = std::clamp<int64_t>(-left, 0, width);
        const int64_t after = std::clamp<int64_t>(left + width - g.iw, 0, width - before);
        for (int64_t i = 0; i < g.kh; ++i) {
            uint8_t* to = band + i * band_step_;
            const int64_t line = top + i * g.dilation_h;
            if (line < 0 || line >= g.ih) {
                std::memset(to, run.zero, static_cast<size_t>(width * g.ic));
                continue;
            }
            const auto bytes = [&](int64_t pixels) { return static_cast<size_t>(pixels * g.ic); };
            std::memset(to, run.zero, bytes(before));
            if (const int64_t inside = width - before - after; inside > 0)
                std::memcpy(to + bytes(before), run.x + (line * g.iw + left + before) * g.ic, bytes(inside));
            std::memset(to + bytes(width - after), run.zero, bytes(after));
        }
        for (int64_t r = 0; r < run.count; ++r)
            for (int64_t i = 0; i < g.kh; ++i) *rows++ = band + i * band_step_ + r * g.stride_w * g.ic;
    }

    // Windows one by one; with their sums where the weights have zero points.
    void gather(const Args& args, const Run& run, int64_t group, const uint8_t** rows) const {
        auto* copies = reinterpret_cast<uint8_t*>(args.scratch + rows_at_);
        auto* sums = reinterpret_cast<int32_t*>(args.scratch + sums_at_);
        const int64_t segments = p_.segments();
        for (int64_t r = 0; r < run.count; ++r) {
            uint8_t* row = copies + r * row_step_;
            gather_window(run, group, run.first + r, row);
            if (w_moved_) sums[r] = isa_.micro.move_row(row, row_step_, flip(), row);
            for (int64_t i = 0; i < segments; ++i) *rows++ = row + i * p_.segment_step();
        }
    }

    // What fills segments up counts as 0 once it is moved.
    void gather_window(const Run& run, int64_t group, int64_t pixel, uint8_t* row) const {
        const ConvGeometry& g = p_.g;
        const uint8_t* x = run.x + group * g.group_ic();
        const int64_t top = pixel / g.ow * g.stride_h - g.pad_top, left = pixel % g.ow * g.stride_w - g.pad_left;
        const auto depth = static_cast<size_t>(g.group_ic());
        const int64_t taps_of_segment = g.taps() / p_.segments();
        const auto rest = static_cast<size_t>(p_.segment_step() - p_.segment_bytes());
        for (int64_t tap = 0; tap < g.taps(); ++tap, row += depth) {
            const int64_t line = top + tap / g.kw * g.dilation_h, at = left + tap % g.kw * g.dilation_w;
            if (line >= 0 && line < g.ih && at >= 0 && at < g.iw)
                std::memcpy(row, x + (line * g.iw + at) * g.ic, depth);
            else
                std::memset(row, run.zero, depth);
            if ((tap + 1) % taps_of_segment != 0) continue;
            std::memset(row + depth, flip(), rest);
            row += rest;
        }
    }

    const IntegerIsa& isa_;
    RequantizedProblem p_;
    IntegerPanels panels_;
    RowForm form_;
    int64_t tile_rows_;
    int64_t line_pixels_ = 0, blocks_ = 0;
    std::vector<int64_t> tap_offsets_;
    int64_t band_step_ = 0, row_step_ = 0;
    int64_t outside_at_ = 0, rows_at_ = 0, sums_at_ = 0;
    bool w_moved_ = true;  // some zero point of the weights is not 0
};

// The weights as panels, and the sums of each output channel's.
Tensor pack_weights(const RequantizedProblem& p, const Tensor& w, std::vector<int32_t>& sums) {
    const ConvGeometry& g = p.g;
    const uint8_t flip = flip_of(p.w_type, moved_b);
    sums.assign(static_cast<size_t>(g.oc), 0);
    const IntegerPanels shape = p.panels();
    Tensor packed(ElementType::i8, {g.group, shape.bytes()});
    // What fills segments up is 0 after the move.
    std::vector<std::byte> ordered(static_cast<size_t>(g.group_oc() * p.row_bytes()), std::byte{flip});
    for (int64_t group = 0; group < g.group; ++group) {
        for (int64_t out = 0; out < g.group_oc(); ++out)
            for (int64_t k = 0; k < g.k(); ++k) {
                const int64_t at = k / p.segment_bytes() * p.segment_step() + k % p.segment_bytes();
                ordered[static_cast<size_t>(out * p.row_bytes() + at)] =
                    requantized_weight(p, w, group * g.group_oc() + out, k / g.group_ic(), k % g.group_ic());
            }
        shape.pack(ordered.data(), 1, p.row_bytes(), flip, packed.mutable_data<int8_t>().data() + group * shape.bytes(),
                   sums.data() + group * g.group_oc());
    }
    return packed;
}

}  // namespace

std::vector<Tensor> pack_requantized(const RequantizedProblem& p, std::span<const Tensor* const> constants) {
    const RequantizedTerms terms = requantized_terms(p, constants);
    const Shape padded{p.g.group * p.panel_columns()};
    Tensor column(ElementType::i32, padded), w_zero(ElementType::i32, padded), scale(ElementType::f32, padded);
    std::vector<int32_t> sums;
    std::vector<Tensor> blobs;
    blobs.push_back(pack_weights(p, *constants[p.w], sums));
    for (int64_t i = 0; i < p.g.oc; ++i) {
        const auto from = static_cast<size_t>(i);
        const auto to = static_cast<size_t>(i / p.g.group_oc() * p.panel_columns() + i % p.g.group_oc());
        const uint32_t lost = static_cast<uint32_t>(p.g.k()) * static_cast<uint32_t>(terms.w_zero[from]) -
                              static_cast<uint32_t>(sums[from]);
        column.mutable_data<int32_t>()[to] =
            static_cast<int32_t>(static_cast<uint32_t>(terms.x_zero) * lost + static_cast<uint32_t>(terms.bias[from]));
        w_zero.mutable_data<int32_t>()[to] = terms.w_zero[from];
        scale.mutable_data<float>()[to] = terms.scale[from];
    }
    for (Tensor* tensor : {&column, &w_zero, &scale}) blobs.push_back(std::move(*tensor));
    const float output[] = {terms.high, terms.zero};
    blobs.push_back(Tensor::of<int32_t>({1}, std::span(&terms.x_zero, 1)));
    blobs.push_back(Tensor::of<float>({2}, output));
    return blobs;
}

std::unique_ptr<Prepared> prepare_requantized(const IntegerIsa& isa, const RequantizedProblem& problem,
                                              int64_t tile_rows) {
    return std::make_unique<RequantizedRows>(isa, problem, tile_rows);
}

}  // namespace headway
