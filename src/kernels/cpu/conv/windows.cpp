#include "kernels/cpu/conv/windows.h"

#include <algorithm>

#include "base/checked.h"
#include "kernels/cpu/conv/pixels.h"

namespace headway {

std::vector<PixelBlock> Windows::blocks(int64_t rows) const {
    std::vector<PixelBlock> blocks;
    const int64_t pixels = geometry_.pixels();
    const int64_t count = pixels == 0 ? 0 : ceil_div(pixels, rows);
    for (int64_t i = 0; i < count; ++i) {
        const int64_t pixel = i * rows;
        blocks.push_back({pixel, std::min(rows, pixels - pixel)});
    }
    return blocks;
}

namespace {

class TapWindows final : public Windows {
public:
    explicit TapWindows(const ConvGeometry& g)
        : Windows(g), zeros_(static_cast<size_t>(std::max<int64_t>(g.ic, 1)), 0.0F) {
        segments_ = g.taps();
        run_ = g.group_ic();
        group_step_ = run_;
    }
    int64_t scratch_floats(const std::vector<PixelBlock>&) const override { return 0; }

    void find(const float* src, const PixelBlock& block, const float** pointers, float*) const override {
        for_each_stretch(geometry_, block, [&](const PixelStretch& stretch) {
            for (int64_t kh = 0; kh < geometry_.kh; ++kh)
                for (int64_t kw = 0; kw < geometry_.kw; ++kw)
                    find_tap(src, stretch, kh, kw, pointers + (kh * geometry_.kw + kw) * block.count + stretch.at);
        });
    }

private:
    void find_tap(const float* src, const PixelStretch& stretch, int64_t kh, int64_t kw, const float** pointers) const {
        const ConvGeometry& g = geometry_;
        const int64_t ih = stretch.oh * g.stride_h - g.pad_top + kh * g.dilation_h;
        const int64_t iw = stretch.ow * g.stride_w - g.pad_left + kw * g.dilation_w;
        const PixelRange range = ih < 0 || ih >= g.ih ? PixelRange{stretch.count, stretch.count}
                                                      : pixels_inside(iw, g.stride_w, stretch.count, g.iw);
        std::fill(pointers, pointers + range.begin, zeros_.data());
        const int64_t step = g.stride_w * g.ic;
        int64_t at = ((stretch.image * g.ih + ih) * g.iw + iw) * g.ic + range.begin * step;
        for (int64_t j = range.begin; j < range.end; ++j, at += step) pointers[j] = src + at;
        std::fill(pointers + range.end, pointers + stretch.count, zeros_.data());
    }

    std::vector<float> zeros_;
};

class ColumnWindows final : public Windows {
public:
    explicit ColumnWindows(const ConvGeometry& g) : Windows(g) {
        segments_ = 1;
        run_ = g.k();
        group_step_ = run_;
    }
    int64_t scratch_floats(const std::vector<PixelBlock>& blocks) const override {
        int64_t most = 0;
        for (const PixelBlock& block : blocks) most = std::max(most, block.count);
        return most * run_ * geometry_.group;
    }

    void find(const float* src, const PixelBlock& block, const float** pointers, float* scratch) const override {
        const int64_t row = run_ * geometry_.group;
        for_each_stretch(geometry_, block, [&](const PixelStretch& stretch) {
            for (int64_t j = 0; j < stretch.count; ++j) {
                float* out = scratch + (stretch.at + j) * row;
                pointers[stretch.at + j] = out;
                copy_window(src, stretch, stretch.ow + j, out);
            }
        });
    }

private:
    void copy_window(const float* src, const PixelStretch& stretch, int64_t ow, float* out) const {
        const ConvGeometry& g = geometry_;
        const int64_t channels = g.group_ic();
        for (int64_t group = 0; group < g.group; ++group)
            for (int64_t kh = 0; kh < g.kh; ++kh) {
                const int64_t ih = stretch.oh * g.stride_h - g.pad_top + kh * g.dilation_h;
                for (int64_t kw = 0; kw < g.kw; ++kw, out += channels) {
                    const int64_t iw = ow * g.stride_w - g.pad_left + kw * g.dilation_w;
                    if (ih < 0 || ih >= g.ih || iw < 0 || iw >= g.iw)
                        std::fill_n(out, channels, 0.0F);
                    else
                        std::copy_n(src + ((stretch.image * g.ih + ih) * g.iw + iw) * g.ic + group * channels, channels,
                                    out);
                }
            }
    }
};

class RowWindows final : public Windows {
public:
    RowWindows(const ConvGeometry& g, bool plain_image) : Windows(g), plain_image_(plain_image && g.ic > 1) {
        HEADWAY_CHECK(!plain_image_ || g.ic <= 4);
        segments_ = g.kh;
        run_ = g.kw * g.ic;
    }

    // Whole output rows, or parts of one row.
    std::vector<PixelBlock> blocks(int64_t rows) const override {
        std::vector<PixelBlock> blocks;
        const ConvGeometry& g = geometry_;
        if (g.pixels() == 0) return blocks;
        const int64_t parts = std::max<int64_t>(1, g.ow / rows);
        const int64_t lines = parts > 1 ? 1 : std::clamp<int64_t>((rows + g.ow / 2) / g.ow, fewest_lines(), g.oh);
        for (int64_t image = 0; image < g.batch; ++image)
            for (int64_t oh = 0; oh < g.oh; oh += lines) {
                const int64_t first = (image * g.oh + oh) * g.ow;
                const int64_t count = std::min(lines, g.oh - oh) * g.ow;
                for (int64_t part = 0; part < parts; ++part) {
                    const int64_t begin = part * count / parts;
                    blocks.push_back({first + begin, (part + 1) * count / parts - begin});
                }
            }
        return blocks;
    }

    int64_t scratch_floats(const std::vector<PixelBlock>& blocks) const override {
        int64_t most = 0;
        for (const PixelBlock& block : blocks) {
            const Area area = area_of(block);
            if (!readable(area)) most = std::max(most, area.lines * area.width * geometry_.ic);
        }
        return most;
    }

    void find(const float* src, const PixelBlock& block, const float** pointers, float* scratch) const override {
        const ConvGeometry& g = geometry_;
        const Area area = area_of(block);
        const float* base = scratch;
        int64_t line_step = area.width * g.ic;
        if (readable(area)) {
            line_step = g.iw * g.ic;
            base = src + ((area.image * g.ih + area.ih) * g.iw + area.iw) * g.ic;
        } else {
            copy(src, area, scratch);
        }
        for (int64_t kh = 0; kh < g.kh; ++kh)
            for (int64_t line = 0, i = 0; i < block.count; ++line) {
                const float* row = base + (line * g.stride_h + kh * g.dilation_h) * line_step;
                for (int64_t ow = 0; ow < area.columns; ++ow, ++i)
                    pointers[kh * block.count + i] = row + ow * g.stride_w * g.ic;
            }
    }

private:
    // Output rows of a block from which at most half of the image rows are copied again for the next block, as long as
    // enough blocks are left to share among threads.
    int64_t fewest_lines() const {
        const ConvGeometry& g = geometry_;
        if (!plain_image_ && !g.padded()) return 1;
        const int64_t wanted = 2 * ((g.kh - 1) * g.dilation_h + 1 - g.stride_h) / g.stride_h;
        constexpr int64_t fewest_blocks = 16;
        return std::clamp<int64_t>(std::min(wanted, g.batch * g.oh / fewest_blocks), 1, std::max<int64_t>(1, g.oh));
    }

    // The part of the image under the windows of a block.
    struct Area {
        int64_t image, ih, iw, lines, width;
        int64_t columns;  // output columns
    };
    Area area_of(const PixelBlock& block) const {
        const ConvGeometry& g = geometry_;
        const int64_t row = block.pixel / g.ow, ow = block.pixel % g.ow;
        const int64_t columns = std::min(g.ow, block.count), rows = block.count / columns;
        return {row / g.oh,
                row % g.oh * g.stride_h - g.pad_top,
                ow * g.stride_w - g.pad_left,
                (rows - 1) * g.stride_h + (g.kh - 1) * g.dilation_h + 1,
                (columns - 1) * g.stride_w + g.kw,
                columns};
    }
    bool readable(const Area& area) const {
        return !plain_image_ && area.ih >= 0 && area.iw >= 0 && area.ih + area.lines <= geometry_.ih &&
               area.iw + area.width <= geometry_.iw;
    }
    void copy(const float* src, const Area& area, float* out) const {
        const ConvGeometry& g = geometry_;
        const PixelRange columns = pixels_inside(area.iw, 1, area.width, g.iw);
        for (int64_t line = 0; line < area.lines; ++line, out += area.width * g.ic) {
            const int64_t ih = area.ih + line;
            if (ih < 0 || ih >= g.ih) {
                std::fill_n(out, area.width * g.ic, 0.0F);
                continue;
            }
            std::fill(out, out + columns.begin * g.ic, 0.0F);
            copy_line(src, area, ih, columns, out + columns.begin * g.ic);
            std::fill(out + columns.end * g.ic, out + area.width * g.ic, 0.0F);
        }
    }
    void copy_line(const float* src, const Area& area, int64_t ih, const PixelRange& columns, float* out) const {
        const ConvGeometry& g = geometry_;
        const int64_t iw = area.iw + columns.begin, count = columns.end - columns.begin;
        if (!plain_image_) {
            std::copy_n(src + ((area.image * g.ih + ih) * g.iw + iw) * g.ic, count * g.ic, out);
            return;
        }
        const float* plane = src + (area.image * g.ic * g.ih + ih) * g.iw + iw;
        if (g.ic == 3)
            interleave<3>(plane, g.ih * g.iw, count, out);
        else if (g.ic == 4)
            interleave<4>(plane, g.ih * g.iw, count, out);
        else
            interleave<2>(plane, g.ih * g.iw, count, out);
    }

    template <int channels>
    static void interleave(const float* plane, int64_t plane_step, int64_t count, float* out) {
        for (int64_t i = 0; i < count; ++i)
            for (int c = 0; c < channels; ++c) out[i * channels + c] = plane[c * plane_step + i];
    }

    bool plain_image_;
};

}  // namespace

std::unique_ptr<Windows> tap_windows(const ConvGeometry& geometry) { return std::make_unique<TapWindows>(geometry); }
std::unique_ptr<Windows> column_windows(const ConvGeometry& geometry) {
    return std::make_unique<ColumnWindows>(geometry);
}
std::unique_ptr<Windows> row_windows(const ConvGeometry& geometry, bool plain_image) {
    return std::make_unique<RowWindows>(geometry, plain_image);
}

}  // namespace headway
