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

class Planar final : public Prepared {
public:
    Planar(const PlanarTiles& tiles, Isa isa, const Problem& problem, const Choices& choices)
        : g_(conv_geometry(problem)), tiles_(tiles), groups_(channel_groups(tiles, g_.oc)) {
        if (!problem.epilogue.empty()) program_.emplace(problem.epilogue, problem.dst[0], problem.operands, 1, isa);
        const int64_t wanted =
            std::max<int64_t>(1, choices.get(tile_work_knob) * 1000 / std::max<int64_t>(1, g_.oc * g_.k()));
        const int64_t width = std::max<int64_t>(1, g_.ow), height = std::max<int64_t>(1, g_.oh);
        columns_ = std::min(width, round_up(ceil_div(width, ceil_div(width, wanted)), tiles.lanes));
        rows_ = ceil_div(height, ceil_div(height, std::max<int64_t>(1, wanted / width)));
        column_units_ = ceil_div(width, columns_);
        row_units_ = ceil_div(height, rows_);
        // A row of the copy is cut into one part for each position within a stride, so that neighbouring output pixels
        // read neighbours.
        part_ = round_up(columns_, tiles.lanes) + (g_.kw - 1) * g_.dilation_w / g_.stride_w;
        for (int64_t t = 0; t < g_.kw; ++t) {
            const int64_t column = t * g_.dilation_w;
            taps_.push_back(column % g_.stride_w * part_ + column / g_.stride_w);
        }
    }

    int64_t tiles(int) const override { return g_.pixels() == 0 ? 0 : g_.batch * row_units_ * column_units_; }
    int64_t scratch_bytes() const override { return copied_rows(rows_) * row_floats() * 4; }

    void run(const Args& args, int, int64_t begin, int64_t end) const override {
        for (int64_t unit = begin; unit < end; ++unit) {
            const int64_t column = unit % column_units_ * columns_;
            const int64_t row = unit / column_units_ % row_units_ * rows_;
            run_unit(args, {unit / column_units_ / row_units_, row, std::min(rows_, g_.oh - row), column,
                            std::min(columns_, g_.ow - column)});
        }
    }

private:
    // Output pixels of a unit of scheduling: several whole rows or a part of one.
    struct Area {
        int64_t image, row, rows, column, columns;
    };

    int64_t copied_rows(int64_t rows) const { return (rows - 1) * g_.stride_h + (g_.kh - 1) * g_.dilation_h + 1; }
    int64_t plane_floats() const { return g_.stride_w * part_; }
    int64_t row_floats() const { return g_.ic * plane_floats(); }

    void run_unit(const Args& args, const Area& area) const {
        float* copy = reinterpret_cast<float*>(args.scratch);
        copy_image(reinterpret_cast<const float*>(args.src[0]), area, copy);
        float* dst = reinterpret_cast<float*>(args.dst[0]);
        for (const ChannelGroup& group : groups_)
            for (int64_t y = 0; y < area.rows; ++y) run_row(args, group, area, y, copy, dst);
        if (!program_) return;
        for (int64_t channel = 0; channel < g_.oc; ++channel) {
            const int64_t row = (area.image * g_.oc + channel) * g_.oh + area.row;
            program_->apply(args.operands, dst + row * g_.ow + area.column, g_.ow, row, area.rows, area.column,
                            area.columns, &dst);
        }
    }

    // The part of the image under the area's windows, zeros where it has none.
    void copy_image(const float* src, const Area& area, float* to) const {
        const int64_t first = area.row * g_.stride_h - g_.pad_top, left = area.column * g_.stride_w - g_.pad_left;
        for (int64_t y = 0; y < copied_rows(area.rows); ++y)
            for (int64_t c = 0; c < g_.ic; ++c)
                for (int64_t phase = 0; phase < g_.stride_w; ++phase, to += part_) {
                    const int64_t ih = first + y;
                    const bool inside = ih >= 0 && ih < g_.ih;
                    const PixelRange range =
                        inside ? pixels_inside(left + phase, g_.stride_w, part_, g_.iw) : PixelRange{0, 0};
                    std::fill(to, to + range.begin, 0.0F);
                    std::fill(to + range.end, to + part_, 0.0F);
                    if (range.begin == range.end) continue;
                    const float* from = src + ((area.image * g_.ic + c) * g_.ih + ih) * g_.iw + left + phase;
                    if (g_.stride_w == 1)
                        std::copy(from + range.begin, from + range.end, to + range.begin);
                    else
                        for (int64_t x = range.begin; x < range.end; ++x) to[x] = from[x * g_.stride_w];
                }
    }

    void run_row(const Args& args, const ChannelGroup& group, const Area& area, int64_t y, const float* copy,
                 float* dst) const {
        PlanarTile tile{};
        tile.channels = g_.ic;
        tile.channel_step = plane_floats();
        tile.rows = g_.kh;
        tile.row_step = g_.dilation_h * row_floats();
        tile.columns = g_.kw;
        tile.taps = taps_.data();
        tile.weights = reinterpret_cast<const float*>(args.packed[0]) + group.channel * g_.k();
        tile.init = reinterpret_cast<const float*>(args.packed[1]) + group.channel;
        tile.dst_step = g_.oh * g_.ow;
        const float* image = copy + y * g_.stride_h * row_floats();
        float* row = dst + ((area.image * g_.oc + group.channel) * g_.oh + area.row + y) * g_.ow + area.column;
        const int64_t vectors = ceil_div(area.columns, tiles_.lanes);
        const int64_t count = ceil_div(vectors, tiles_.vectors[group.channels]);
        for (int64_t t = 0, first = 0; t < count; ++t) {
            const int64_t next = (t + 1) * vectors / count;
            tile.image = image + first * tiles_.lanes;
            tile.dst = row + first * tiles_.lanes;
            tile.last = static_cast<int>(std::min<int64_t>(tiles_.lanes, area.columns - (next - 1) * tiles_.lanes));
            tiles_.tiles[group.channels][next - first](tile);
            first = next;
        }
    }

    ConvGeometry g_;
    const PlanarTiles& tiles_;
    std::vector<ChannelGroup> groups_;
    std::optional<TileProgram> program_;
    int64_t rows_ = 1, columns_ = 1, row_units_ = 1, column_units_ = 1;
    int64_t part_ = 0;  // floats
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
    int narrowest = PlanarTiles::most_channels;
    for (const ChannelGroup& group : channel_groups(tiles, g.oc)) narrowest = std::min(narrowest, group.channels);
    const int64_t vectors = std::max<int64_t>(1, ceil_div(g.ow, tiles.lanes));
    const int64_t count = ceil_div(vectors, tiles.vectors[narrowest]);
    const double sums = static_cast<double>(narrowest * vectors) / static_cast<double>(count);
    const double channels = narrowest, taps = static_cast<double>(g.kw);
    double share = 0.98 * channels / (channels + 0.4);  // channels share the loads of pixels
    share *= taps / (taps + 0.25);                      // a kernel row is a loop of its own
    if (g.stride_w > 1) share *= 0.75;                  // rows of gathered pixels come from the second-level cache
    return share * std::min(1.0, sums / 9);             // fewer do not hide the latency of multiply-adds
}

Work work_of(const PlanarTiles& tiles, const Problem& problem) {
    const ConvGeometry g = conv_geometry(problem);
    const double columns = static_cast<double>(std::max<int64_t>(1, g.ow));
    const double waste = static_cast<double>(round_up(g.ow, tiles.lanes)) / columns;
    // Copying a float costs as much as a vector operation or more: strides are gathered one by one, across cache lines.
    const double copy_flops = static_cast<double>(tiles.lanes * std::min<int64_t>(g.stride_w, 8));
    const double copied = static_cast<double>(g.batch * g.oh * g.stride_h * g.ow * g.stride_w * g.ic);
    return {conv_flops(g) * waste + copied * copy_flops, conv_bytes(problem, g, 4), efficiency(tiles, g)};
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
    fields.prepare = [isa, &tiles](const Problem& problem, const Target&, const Choices& choices) {
        return std::make_unique<Planar>(tiles, isa, problem, choices);
    };
    return fields;
}

namespace {

const Kernel planar_baseline{planar_conv(Isa::baseline, "baseline", planar_tiles(Isa::baseline))};
const Kernel planar_avx2{planar_conv(Isa::avx2, "avx2", planar_tiles(Isa::avx2))};
const Kernel planar_avx512{planar_conv(Isa::avx512, "avx512", planar_tiles(Isa::avx512))};

}  // namespace
}  // namespace headway
