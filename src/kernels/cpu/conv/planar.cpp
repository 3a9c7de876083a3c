#include "kernels/cpu/conv/planar.h"

#include <algorithm>
#include <optional>

#include "base/checked.h"
#include "kernels/cpu/conv/geometry.h"
#include "kernels/cpu/conv/pixels.h"
#include "kernels/cpu/pointwise/tile_program.h"

namespace headway {
namespace {

const Knob<int64_t> tile_work_knob{{
    .name = "conv.planar_tile_kmacs",
    .help =
        "Multiply-adds, in thousands, of a unit of scheduling of a planar convolution; small units copy more of the "
        "image twice.",
    .family = "kernel",
    .values = {2048, 128, 512, 1024, 8192},
    .scope = Scope::site,
    .witness = "conv_one_channel",
    .witness_route = "conv.algorithm=planar",
}};

constexpr int64_t float_bytes = sizeof(float);

// Output channels that one tile computes together.
struct ChannelGroup {
    int64_t channel;
    int channels;
};

// Groups of nearly equal size: a small one would load each pixel for few products.
std::vector<ChannelGroup> channel_groups(const PlanarTiles& tiles, int64_t oc) {
    int64_t most = PlanarTiles::most_channels;
    while (tiles.vectors[most] == 0) --most;
    const int64_t parts = ceil_div(oc, most);
    std::vector<ChannelGroup> groups;
    for (int64_t part = 0; part < parts; ++part) {
        const int64_t first = part * oc / parts, last = (part + 1) * oc / parts;
        groups.push_back({first, static_cast<int>(last - first)});
    }
    return groups;
}

// Whether tiles can read the image where it lies: neighbours are neighbours, and no window hangs over its sides.
bool read_in_place(const ConvGeometry& g) {
    return g.stride_w == 1 && g.pad_left == 0 && g.ow - 1 + (g.kw - 1) * g.dilation_w < g.iw;
}

// The narrowest group, which decides how fast all are.
int fewest_channels(const PlanarTiles& tiles, int64_t oc) {
    int fewest = PlanarTiles::most_channels;
    for (const ChannelGroup& group : channel_groups(tiles, oc)) fewest = std::min(fewest, group.channels);
    return fewest;
}

// Whether tiles take rows whose windows share rows of the image.
bool shares_rows(const ConvGeometry& g) {
    return g.oc == 1 && g.kh > 1 && g.stride_h == 1 && g.dilation_h == 1 && g.oh >= PlanarTiles::shared_rows;
}

// Output rows that a tile computes: one, unless windows share rows, or so many columns leave room in the registers.
int64_t rows_of_tiles(const PlanarTiles& tiles, const ConvGeometry& g, int64_t columns) {
    if (shares_rows(g)) return PlanarTiles::shared_rows;
    int64_t rows = PlanarTiles::most_vectors;
    for (const ChannelGroup& group : channel_groups(tiles, g.oc))
        rows = std::min<int64_t>(rows, tiles.vectors[group.channels]);
    return ceil_div(columns, tiles.lanes) < rows ? rows : 1;
}

class Planar final : public Prepared {
public:
    Planar(const PlanarTiles& tiles, Isa isa, const Problem& problem, const Target& target, const Choices& choices)
        : g_(conv_geometry(problem)),
          tiles_(tiles),
          groups_(channel_groups(tiles, g_.oc)),
          in_place_(read_in_place(g_)) {
        if (!problem.epilogue.empty()) program_.emplace(problem.epilogue, problem.dst[0], problem.operands, 1, isa);
        set_units(target, choices);
        most_rows_ = rows_of_tiles(tiles, g_, columns_);
        // A row of the copy is cut into one part for each position within a stride, so that neighbouring output pixels
        // read neighbours.
        part_ = round_up(columns_, tiles.lanes) + (g_.kw - 1) * g_.dilation_w / g_.stride_w;
        for (int64_t t = 0; t < g_.kw; ++t) {
            const int64_t column = t * g_.dilation_w;
            taps_.push_back(in_place_ ? column : column % g_.stride_w * part_ + column / g_.stride_w);
        }
    }

    int64_t tiles(int) const override { return g_.pixels() == 0 ? 0 : g_.batch * row_units_ * column_units_; }
    int64_t scratch_bytes() const override {
        return in_place_ ? 0 : copied_rows(rows_) * g_.ic * plane_floats() * float_bytes;
    }

    void run(const Args& args, int, int64_t begin, int64_t end) const override {
        for (int64_t unit = begin; unit < end; ++unit) {
            const int64_t row = unit % row_units_ * rows_;
            const int64_t column = unit / row_units_ % column_units_ * columns_;
            run_unit(args, {unit / column_units_ / row_units_, row, std::min(rows_, g_.oh - row), column,
                            std::min(columns_, g_.ow - column)});
        }
    }

private:
    // Output pixels of a unit of scheduling: several whole rows or a part of one.
    struct Area {
        int64_t image, row, rows, column, columns;
    };

    void set_units(const Target& target, const Choices& choices) {
        const int64_t wanted =
            std::max<int64_t>(1, choices.get(tile_work_knob) * 1000 / std::max<int64_t>(1, g_.oc * g_.k()));
        const int64_t width = std::max<int64_t>(1, g_.ow), height = std::max<int64_t>(1, g_.oh);
        int64_t columns = std::min(width, wanted);
        if (in_place_) {
            // Units below one another read the same rows again: strips so narrow that these stay in the second-level
            // cache.
            const int64_t reach = std::min(g_.ih, (g_.kh - 1) * g_.dilation_h + 1);
            const int64_t cached = target.l2_bytes / 2 / std::max<int64_t>(1, reach * g_.ic * float_bytes);
            columns = std::min(columns, std::max<int64_t>(cached, int64_t{PlanarTiles::most_vectors} * tiles_.lanes));
        }
        columns_ = std::min(width, round_up(ceil_div(width, ceil_div(width, columns)), tiles_.lanes));
        int64_t rows = std::max<int64_t>(1, wanted / columns_);
        if (!in_place_) {
            // At most half of the rows are copied again for the unit below, as long as the threads get enough units.
            const int64_t again = ((g_.kh - 1) * g_.dilation_h + 1) / g_.stride_h - 1;
            rows = std::max(rows, std::min(again, height * g_.batch / (3 * int64_t{target.threads})));
        }
        rows_ = ceil_div(height, ceil_div(height, rows));
        if (shares_rows(g_)) rows_ = std::min(height, round_up(rows_, int64_t{PlanarTiles::shared_rows}));
        column_units_ = ceil_div(width, columns_);
        row_units_ = ceil_div(height, rows_);
    }

    int64_t copied_rows(int64_t rows) const { return (rows - 1) * g_.stride_h + (g_.kh - 1) * g_.dilation_h + 1; }
    int64_t plane_floats() const { return g_.stride_w * part_; }

    void run_unit(const Args& args, const Area& area) const {
        const float* src = reinterpret_cast<const float*>(args.src[0]);
        float* dst = reinterpret_cast<float*>(args.dst[0]);
        for (int64_t y = 0; !in_place_ && y < copied_rows(area.rows); ++y)
            copy_row(src, area, y, reinterpret_cast<float*>(args.scratch) + y * g_.ic * plane_floats());
        for (int64_t y = 0, rows = 0; y < area.rows; y += rows) {
            rows = next_rows(area, y);
            for (const ChannelGroup& group : groups_) run_rows(args, group, area, y, rows);
        }
        if (!program_) return;
        for (int64_t channel = 0; channel < g_.oc; ++channel) {
            const int64_t row = (area.image * g_.oc + channel) * g_.oh + area.row;
            program_->apply(args.operands, dst + row * g_.ow + area.column, g_.ow, row, area.rows, area.column,
                            area.columns, &dst);
        }
    }

    // The part of an image row, counted from the first under the area's windows, that lies under them: zeros where the
    // image has none.
    void copy_row(const float* src, const Area& area, int64_t y, float* to) const {
        const int64_t ih = area.row * g_.stride_h - g_.pad_top + y, left = area.column * g_.stride_w - g_.pad_left;
        if (ih < 0 || ih >= g_.ih) {
            std::fill_n(to, g_.ic * plane_floats(), 0.0F);
            return;
        }
        const float* row = src + (area.image * g_.ic * g_.ih + ih) * g_.iw;
        for (int64_t c = 0; c < g_.ic; ++c, row += g_.ih * g_.iw, to += plane_floats()) {
            if (g_.stride_w == 2)
                copy_pairs(row, left, to);
            else
                for (int64_t phase = 0; phase < g_.stride_w; ++phase) {
                    float* part = to + phase * part_;
                    const PixelRange range = clear_outside(left + phase, part);
                    copy_strided(row + left + phase, range, part);
                }
        }
    }

    // Zeros where a part whose first pixel is image column `first` reaches beyond the image; returns the rest.
    PixelRange clear_outside(int64_t first, float* part) const {
        const PixelRange range = pixels_inside(first, g_.stride_w, part_, g_.iw);
        std::fill(part, part + range.begin, 0.0F);
        std::fill(part + range.end, part + part_, 0.0F);
        return range;
    }
    void copy_strided(const float* from, PixelRange range, float* part) const {
        if (g_.stride_w == 1)
            std::copy(from + range.begin, from + range.end, part + range.begin);
        else
            for (int64_t x = range.begin; x < range.end; ++x) part[x] = from[x * g_.stride_w];
    }
    // Both parts of a row at stride 2.
    void copy_pairs(const float* row, int64_t left, float* to) const {
        const PixelRange even = clear_outside(left, to), odd = clear_outside(left + 1, to + part_);
        const int64_t begin = std::max(even.begin, odd.begin), end = std::max(begin, std::min(even.end, odd.end));
        copy_strided(row + left, {even.begin, begin}, to);
        copy_strided(row + left, {end, even.end}, to);
        copy_strided(row + left + 1, {odd.begin, begin}, to + part_);
        copy_strided(row + left + 1, {end, odd.end}, to + part_);
        tiles_.split_pairs(row + left + 2 * begin, end - begin, to + begin, to + part_ + begin);
    }

    // How many output rows of an area, from its row y on, one row of tiles computes: several only where all windows
    // take whole kernels from the image.
    int64_t next_rows(const Area& area, int64_t y) const {
        const int64_t left = area.rows - y, parts = ceil_div(left, most_rows_);
        const int64_t rows = shares_rows(g_) ? (left < most_rows_ ? 1 : most_rows_) : ceil_div(left, parts);
        if (!in_place_) return rows;
        return whole_kernel(area.row + y) && whole_kernel(area.row + y + rows - 1) ? rows : 1;
    }

    void run_rows(const Args& args, const ChannelGroup& group, const Area& area, int64_t y, int64_t rows) const {
        PlanarTile tile = make_tile(args, group, area, y);
        if (rows == 1)
            run_row(tiles_.beside[group.channels], tiles_.vectors[group.channels], area.columns, tile);
        else if (shares_rows(g_))
            run_row(tiles_.shared, tiles_.shared_vectors, area.columns, tile);
        else
            run_columns(tiles_.below[group.channels] + rows, area.columns, tile);
    }

    // The kernel rows of an output row that lie inside the image.
    PixelRange kernel_rows(int64_t oh) const {
        return pixels_inside(oh * g_.stride_h - g_.pad_top, g_.dilation_h, g_.kh, g_.ih);
    }
    bool whole_kernel(int64_t oh) const {
        const PixelRange rows = kernel_rows(oh);
        return rows.end - rows.begin == g_.kh;
    }

    PlanarTile make_tile(const Args& args, const ChannelGroup& group, const Area& area, int64_t y) const {
        PlanarTile tile{};
        tile.channels = g_.ic;
        tile.columns = g_.kw;
        tile.taps = taps_.data();
        tile.weights = reinterpret_cast<const float*>(args.packed[0]) + group.channel * g_.k();
        tile.weights_step = g_.taps() * group.channels;
        tile.init = reinterpret_cast<const float*>(args.packed[1]) + group.channel;
        tile.dst_step = g_.oh * g_.ow;
        tile.dst_below_step = g_.ow;
        if (in_place_) {
            const int64_t ih = (area.row + y) * g_.stride_h - g_.pad_top;
            const PixelRange rows = kernel_rows(area.row + y);
            tile.rows = rows.end - rows.begin;
            tile.row_step = g_.dilation_h * g_.iw;
            tile.channel_step = g_.ih * g_.iw;
            tile.below_step = g_.stride_h * g_.iw;
            tile.image = reinterpret_cast<const float*>(args.src[0]) + area.image * g_.ic * tile.channel_step;
            if (tile.rows > 0) tile.image += (ih + rows.begin * g_.dilation_h) * g_.iw + area.column;
            tile.weights += rows.begin * g_.kw * group.channels;
        } else {
            tile.rows = g_.kh;
            tile.row_step = g_.dilation_h * g_.ic * plane_floats();
            tile.channel_step = plane_floats();
            tile.below_step = g_.stride_h * g_.ic * plane_floats();
            tile.image = reinterpret_cast<const float*>(args.scratch) + y * tile.below_step;
        }
        tile.dst = reinterpret_cast<float*>(args.dst[0]) +
                   ((area.image * g_.oc + group.channel) * g_.oh + area.row + y) * g_.ow + area.column;
        return tile;
    }

    // A row in tiles of nearly equal width.
    void run_row(const PlanarTileFunction* functions, int most_vectors, int64_t columns, PlanarTile& tile) const {
        const int64_t vectors = ceil_div(columns, tiles_.lanes), count = ceil_div(vectors, most_vectors);
        int64_t first = 0;
        for (int64_t t = 0; t < count; ++t) {
            const int64_t next = (t + 1) * vectors / count;
            run_tile(functions[next - first], columns - (next - 1) * tiles_.lanes, next - first, tile);
            first = next;
        }
    }

    // Several rows in tiles one vector wide.
    void run_columns(const PlanarTileFunction* function, int64_t columns, PlanarTile& tile) const {
        for (; columns > 0; columns -= tiles_.lanes) run_tile(*function, columns, 1, tile);
    }

    // `left` columns from the tile's last vector on exist.
    void run_tile(PlanarTileFunction function, int64_t left, int64_t vectors, PlanarTile& tile) const {
        tile.last = static_cast<int>(std::min<int64_t>(tiles_.lanes, left));
        tile.last_read = in_place_ ? tile.last : tiles_.lanes;
        function(tile);
        tile.image += vectors * tiles_.lanes;
        tile.dst += vectors * tiles_.lanes;
    }

    ConvGeometry g_;
    const PlanarTiles& tiles_;
    std::vector<ChannelGroup> groups_;
    bool in_place_;
    std::optional<TileProgram> program_;
    int64_t rows_ = 1, columns_ = 1, row_units_ = 1, column_units_ = 1;
    int64_t most_rows_ = 1;  // that a tile computes
    int64_t part_ = 0;       // floats
    std::vector<int64_t> taps_;
};

// [group][image channel][kernel row][kernel column][output channel of the group]
std::vector<Tensor> pack(const PlanarTiles& tiles, const Problem& problem, std::span<const Tensor* const> constants) {
    const ConvGeometry g = conv_geometry(problem);
    Tensor weights(ElementType::f32, Shape{g.oc * g.k()}), init(ElementType::f32, Shape{g.oc});
    const float* source = constants[1]->data<float>().data();
    float* packed = weights.mutable_data<float>().data();
    for (const ChannelGroup& group : channel_groups(tiles, g.oc))
        for (int64_t k = 0; k < g.k(); ++k)
            for (int64_t o = 0; o < group.channels; ++o) *packed++ = source[(group.channel + o) * g.k() + k];
    if (g.has_bias) init = *constants[2];
    return {std::move(weights), std::move(init)};
}

Verdict supports(const Problem& problem) {
    ConvGeometry g{};
    if (Verdict verdict = read_conv(problem, g); !verdict) return verdict;
    const Layout src = problem.src[0]->layout, dst = problem.dst[0].layout;
    if (src != Layout::plain || dst != Layout::plain)
        return Verdict::no(Reason::layout,
                           std::string(to_string(src)) + " to " + std::string(to_string(dst)) + " (needs plain)");
    if (g.group != 1) return Verdict::no(Reason::attribute, std::to_string(g.group) + " groups (needs 1)");
    if (problem.epilogue.empty()) return Verdict::yes();
    return TileProgram::supports(problem.epilogue, problem.dst[0], problem.operands, 1);
}

// Share of peak, measured by bench/kernels.
double efficiency(const PlanarTiles& tiles, const ConvGeometry& g) {
    const int64_t vectors = std::max<int64_t>(1, ceil_div(g.ow, tiles.lanes));
    const double taps = static_cast<double>(g.kw), kernel_share = taps / (taps + 0.25);  // a kernel row is a loop
    if (shares_rows(g)) {
        const double rows = PlanarTiles::shared_rows, kernel_rows = static_cast<double>(g.kh);
        const double loads = kernel_rows + rows - 1;
        return 0.98 * kernel_rows * rows / (kernel_rows * rows + 0.7 * loads) * kernel_share;
    }
    const int narrowest = fewest_channels(tiles, g.oc);
    const int64_t count = ceil_div(vectors, tiles.vectors[narrowest]);
    const int64_t rows = std::min(rows_of_tiles(tiles, g, g.ow), std::max<int64_t>(1, g.oh));
    const double wide = static_cast<double>(vectors) / static_cast<double>(count);
    const double sums = narrowest * (rows > 1 ? static_cast<double>(rows) : wide);
    const double channels = narrowest;
    double share = 0.98 * channels / (channels + 0.4) * kernel_share;  // channels share the loads of pixels
    // Rows of split pixels come from the second-level cache, for a single channel once for each product.
    if (g.stride_w > 1) share *= narrowest == 1 ? 0.55 : 0.75;
    return share * std::min(1.0, sums / 9);  // fewer do not hide the latency of multiply-adds
}

Work work_of(const PlanarTiles& tiles, const Problem& problem) {
    const ConvGeometry g = conv_geometry(problem);
    const double columns = static_cast<double>(std::max<int64_t>(1, g.ow));
    const double waste = static_cast<double>(round_up(g.ow, tiles.lanes)) / columns;
    // Copying a float costs as much as a vector operation or more: strides beyond two are gathered one by one.
    const int64_t gathered = g.stride_w > 2 ? std::min<int64_t>(g.stride_w, 8) : 1;
    const double copy_flops = static_cast<double>(tiles.lanes * gathered);
    const double copied =
        read_in_place(g) ? 0 : static_cast<double>(g.batch * g.oh * g.stride_h * g.ow * g.stride_w * g.ic);
    // Rows of many planes lie in as many pages: they are written half as fast as one row after the other (Zen 5).
    const double bytes = conv_bytes(problem, g, 4) + 0.5 * static_cast<double>(problem.dst[0].bytes());
    return {conv_flops(g) * waste + copied * copy_flops, bytes, efficiency(tiles, g)};
}

}  // namespace

Kernel::Fields planar_conv(Isa isa, std::string_view isa_name, const PlanarTiles& tiles) {
    Kernel::Fields fields;
    fields.name = "conv.planar." + std::string(isa_name);
    fields.algorithm = "planar";
    fields.help = "Convolution over plain images, vectors along the rows; for few channels.";
    fields.ops = {"Conv"};
    fields.isa = isa;
    fields.knobs = {&tile_work_knob};
    fields.supports = [](const Problem& problem, const Target&, const Choices&) { return supports(problem); };
    fields.work = [&tiles](const Problem& problem, const Target&, const Choices&) { return work_of(tiles, problem); };
    fields.pack = [&tiles](const Problem& problem, const Target&, const Choices&,
                           std::span<const Tensor* const> constants) { return pack(tiles, problem, constants); };
    fields.prepare = [isa, &tiles](const Problem& problem, const Target& target, const Choices& choices) {
        return std::make_unique<Planar>(tiles, isa, problem, target, choices);
    };
    return fields;
}

namespace {

const Kernel planar_baseline{planar_conv(Isa::baseline, "baseline", planar_tiles(Isa::baseline))};
const Kernel planar_avx2{planar_conv(Isa::avx2, "avx2", planar_tiles(Isa::avx2))};
const Kernel planar_avx512{planar_conv(Isa::avx512, "avx512", planar_tiles(Isa::avx512))};

}  // namespace
}  // namespace headway
