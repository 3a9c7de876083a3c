#include "kernels/cpu/conv/direct.h"

#include <algorithm>
#include <optional>

#include "base/checked.h"
#include "kernels/cpu/conv/geometry.h"
#include "kernels/cpu/conv/pixels.h"
#include "kernels/cpu/pointwise/tile_program.h"

namespace headway {
namespace {

const Knob<int64_t> blocks_knob{{
    .name = "conv.direct_blocks",
    .help = "Output channel blocks that a direct convolution computes together; more share each pixel that is loaded, "
            "fewer leave registers for more pixels. 0 = what suits the instruction set.",
    .family = "kernel",
    .values = {0, 1, 2, 3, 4},
    .numerics = Numerics::reorders,  // the predicted time may lead to another instruction set
    .scope = Scope::site,
    .witness = "conv_3x3",
    .witness_route = "conv.algorithm=direct",
}};

const Knob<int64_t> pixels_knob{{
    .name = "conv.direct_pixels",
    .help = "Most neighbouring output pixels that a direct convolution computes together. 0 = as many as the registers "
            "hold.",
    .family = "kernel",
    .values = {0, 4, 6, 8, 10},
    .numerics = Numerics::reorders,  // the predicted time may lead to another instruction set
    .scope = Scope::site,
    .witness = "conv_3x3",
    .witness_route = "conv.algorithm=direct",
}};

const Knob<int64_t> weights_kb_knob{{
    .name = "conv.direct_weights_kb",
    .help = "Input channels of a direct convolution are taken in turns whose weights fill so many KiB, to stay in the "
            "first-level cache; sums pass through memory between turns. 0 = half of that cache where all at once would "
            "not leave the second-level cache half empty, else all at once.",
    .family = "kernel",
    .values = {0, 16, 24, 32, 128, 1048576},
    .scope = Scope::site,
    .witness = "conv_3x3",
    .witness_route = "conv.algorithm=direct",
}};

constexpr int64_t float_bytes = sizeof(float);

// Output channel blocks that one tile computes together, all in one of the convolution's groups.
struct BlockGroup {
    int64_t conv_group;
    int64_t block;  // the first, counted over all output channels
    int blocks;
    int64_t weights;  // floats from the start of the packed weights
};

// The image, its channel blocks, and the outputs' blocks in the tiles' terms.
struct Blocks {
    bool plain;              // the image is in planes; one block holds all channels of a group
    int64_t src_block;       // channels of an image block
    int64_t src_blocks;      // of the whole image
    int64_t group_channels;  // image channels of one group
    int64_t group_blocks;    // image blocks of one group
    int64_t dst_blocks;
    std::vector<BlockGroup> groups;
    int64_t weights = 0;  // floats
};

int most_blocks(const DirectTiles& tiles, const Choices& choices) {
    int most = static_cast<int>(choices.get(blocks_knob));
    if (most == 0) most = DirectTiles::most_blocks;
    while (tiles.pixels[most] == 0) --most;
    return most;
}

int64_t most_pixels(const DirectTiles& tiles, int blocks, const Choices& choices) {
    const int64_t wanted = choices.get(pixels_knob);
    return wanted == 0 ? tiles.pixels[blocks] : std::min<int64_t>(wanted, tiles.pixels[blocks]);
}

Blocks make_blocks(const DirectTiles& tiles, const Problem& problem, const ConvGeometry& g, const Choices& choices) {
    Blocks blocks{};
    blocks.plain = problem.src[0]->layout == Layout::plain;
    blocks.src_block = std::max<int64_t>(1, blocks.plain ? g.group_ic() : channel_block(problem.src[0]->layout));
    blocks.src_blocks = ceil_div(g.ic, blocks.src_block);
    blocks.group_channels = g.group_ic();
    blocks.group_blocks = ceil_div(g.group_ic(), blocks.src_block);
    const int64_t dst_blocks = ceil_div(g.group_oc(), tiles.block);
    blocks.dst_blocks = g.group * dst_blocks;
    // Groups of nearly equal width: one that is much narrower would load each pixel for few products.
    const int64_t parts = ceil_div(dst_blocks, most_blocks(tiles, choices));
    for (int64_t group = 0; group < g.group; ++group)
        for (int64_t part = 0; part < parts; ++part) {
            const int64_t first = part * dst_blocks / parts, last = (part + 1) * dst_blocks / parts;
            blocks.groups.push_back(
                {group, group * dst_blocks + first, static_cast<int>(last - first), blocks.weights});
            blocks.weights += (last - first) * tiles.block * blocks.group_blocks * blocks.src_block * g.taps();
        }
    return blocks;
}

// A 1x1 kernel does not care where rows end: the image becomes one long row.
ConvGeometry joined_rows(ConvGeometry g) {
    if (g.taps() != 1 || g.stride_h != 1 || g.stride_w != 1 || g.padded()) return g;
    g.iw *= g.ih;
    g.ow *= g.oh;
    g.ih = g.oh = 1;
    return g;
}

class Direct final : public Prepared {
public:
    Direct(const DirectTiles& tiles, Isa isa, const Problem& problem, const Target& target, const Choices& choices)
        : g_(joined_rows(conv_geometry(problem))),
          tiles_(tiles),
          blocks_(make_blocks(tiles, problem, g_, choices)),
          most_pixels_(DirectTiles::most_blocks + 1) {
        for (const BlockGroup& group : blocks_.groups)
            most_pixels_[static_cast<size_t>(group.blocks)] = most_pixels(tiles, group.blocks, choices);
        if (!problem.epilogue.empty()) program_.emplace(problem.epilogue, problem.dst[0], problem.operands, 1, isa);
        int widest = 1;
        for (const BlockGroup& group : blocks_.groups) widest = std::max(widest, group.blocks);
        set_units(widest, target);
        set_turns(widest, target, choices.get(weights_kb_knob));
    }

    int64_t tiles(int) const override {
        return g_.pixels() == 0 ? 0
                                : static_cast<int64_t>(blocks_.groups.size()) * g_.batch * row_units_ * column_units_;
    }

    void run(const Args& args, int, int64_t begin, int64_t end) const override {
        const int64_t groups = static_cast<int64_t>(blocks_.groups.size());
        const int64_t areas = g_.batch * row_units_ * column_units_;
        for (int64_t unit = begin; unit < end; ++unit) {
            const int64_t group = image_stays_ ? unit % groups : unit / areas;
            const int64_t area_index = image_stays_ ? unit / groups : unit % areas;
            const int64_t column = area_index % column_units_, row = area_index / column_units_ % row_units_;
            const int64_t image = area_index / column_units_ / row_units_;
            const Area area{image, row * rows_, std::min(g_.oh, (row + 1) * rows_), column * columns_,
                            std::min(g_.ow, (column + 1) * columns_)};
            run_unit(args, blocks_.groups[static_cast<size_t>(group)], area);
        }
    }

private:
    // Output pixels of a unit of scheduling: several whole rows or a part of one, so that its pixels are neighbours in
    // memory and the epilogue takes them at once.
    struct Area {
        int64_t image, row, last_row, column, last_column;
    };

    void set_units(int blocks, const Target& target) {
        constexpr double unit_flops = 2.5e6;  // 20 to 30 us of one core
        const double row_floats = static_cast<double>(std::max<int64_t>(1, g_.ow) * blocks * tiles_.block);
        double wanted = unit_flops / (2.0 * row_floats * static_cast<double>(std::max<int64_t>(1, g_.k())));
        // The epilogue finds a unit's outputs in the first-level cache.
        if (program_) wanted = std::min(wanted, static_cast<double>(target.l1_bytes) / (2 * float_bytes) / row_floats);
        // Where all weights stay in the second-level cache, a part of the image serves all groups before the next part.
        image_stays_ = blocks_.weights * float_bytes <= target.l2_bytes / 4;
        columns_ = std::max<int64_t>(1, g_.ow);
        if (wanted < 1) {
            const int64_t pixels = tiles_.pixels[blocks];
            columns_ = std::max(pixels, static_cast<int64_t>(wanted * static_cast<double>(g_.ow)) / pixels * pixels);
        }
        column_units_ = std::max<int64_t>(1, ceil_div(g_.ow, columns_));
        columns_ = ceil_div(g_.ow, column_units_);
        row_units_ = std::max<int64_t>(1, ceil_div(g_.oh, std::max<int64_t>(1, static_cast<int64_t>(wanted))));
        rows_ = ceil_div(g_.oh, row_units_);
    }

    void set_turns(int blocks, const Target& target, int64_t kb) {
        turn_ = std::max<int64_t>(1, blocks_.group_channels);
        const int64_t block_bytes = g_.taps() * blocks_.src_block * blocks * tiles_.block * float_bytes;
        int64_t bytes = kb * 1024;
        if (bytes == 0) {
            if (block_bytes * blocks_.group_blocks <= target.l2_bytes / 2) return;
            bytes = target.l1_bytes / 2;
            // All rows that share the weights of a turn, as long as enough units are left to share among threads.
            const int64_t groups = static_cast<int64_t>(blocks_.groups.size()) * std::max<int64_t>(1, g_.batch);
            row_units_ = std::min(row_units_, std::max<int64_t>(1, ceil_div(3 * target.threads, groups)));
            rows_ = std::max<int64_t>(1, ceil_div(g_.oh, row_units_));
            row_units_ = std::max<int64_t>(1, ceil_div(g_.oh, rows_));
            if (g_.oh > 1) {
                columns_ = std::max<int64_t>(1, g_.ow);
                column_units_ = 1;
            }
        }
        turn_ = std::max<int64_t>(1, bytes / block_bytes) * blocks_.src_block;
    }

    void run_unit(const Args& args, const BlockGroup& group, const Area& area) const {
        int64_t channel = 0;
        do {
            for (int64_t oh = area.row; oh < area.last_row; ++oh) run_row(args, group, area, oh, channel);
            channel += turn_;
        } while (channel < blocks_.group_channels);
        if (!program_) return;
        float* dst = reinterpret_cast<float*>(args.dst[0]);
        const int64_t pixels = (area.last_row - area.row - 1) * g_.ow + area.last_column - area.column;
        for (int b = 0; b < group.blocks; ++b) {
            const int64_t row = dst_row(area.image, group.block + b, area.row, area.column);
            program_->apply(args.operands, dst + row * tiles_.block, tiles_.block, row, pixels, 0, tiles_.block, &dst);
        }
    }

    // Adds the products of one turn of input channels to a row of the unit.
    void run_row(const Args& args, const BlockGroup& group, const Area& area, int64_t oh, int64_t channel) const {
        const int64_t plane = g_.ih * g_.iw * blocks_.src_block;
        const int64_t src_block = group.conv_group * blocks_.group_blocks + channel / blocks_.src_block;
        const int64_t ih = oh * g_.stride_h - g_.pad_top;
        const PixelRange rows = pixels_inside(ih, g_.dilation_h, g_.kh, g_.ih);
        const int64_t width = group.blocks * tiles_.block;
        DirectTile tile{};
        tile.image =
            reinterpret_cast<const float*>(args.src[0]) + (area.image * blocks_.src_blocks + src_block) * plane;
        tile.block = blocks_.src_block;
        tile.channel_step = blocks_.plain ? g_.ih * g_.iw : 1;
        tile.column_step = blocks_.plain ? 1 : blocks_.src_block;
        tile.channels = std::min(turn_, blocks_.group_channels - channel);
        tile.block_step = plane;
        tile.rows = rows.end - rows.begin;
        if (tile.rows > 0) tile.image += (ih + rows.begin * g_.dilation_h) * g_.iw * tile.column_step;
        tile.row_step = g_.dilation_h * g_.iw * tile.column_step;
        tile.width = g_.iw;
        tile.stride = g_.stride_w;
        tile.columns = g_.kw;
        tile.dilation = g_.dilation_w;
        tile.weights_row_step = g_.kw * blocks_.src_block * width;
        tile.weights_block_step = g_.kh * tile.weights_row_step;
        tile.weights = reinterpret_cast<const float*>(args.packed[0]) + group.weights +
                       channel / blocks_.src_block * tile.weights_block_step;
        ask_ahead(group, area, oh, channel, tile);
        tile.weights += rows.begin * tile.weights_row_step;
        if (channel == 0) tile.init = reinterpret_cast<const float*>(args.packed[1]) + group.block * tiles_.block;
        tile.dst_step = g_.oh * g_.ow * tiles_.block;
        run_columns(args, group, area, oh, tile);
    }

    // Which weights a tile asks for: those of the next turn, or of the next group's first one. All tiles that use the
    // weights of this turn ask for equal shares.
    void ask_ahead(const BlockGroup& group, const Area& area, int64_t oh, int64_t channel, DirectTile& tile) const {
        const int64_t row_tiles = tiles_of_row(group, area);
        int64_t tiles = (area.last_row - area.row) * row_tiles, index = (oh - area.row) * row_tiles;
        if (channel + turn_ >= blocks_.group_channels) {
            index += (area.row / rows_ * column_units_ + area.column / columns_) * tiles;
            tiles *= row_units_ * column_units_;
        }
        const int64_t step_bytes = group.blocks * tiles_.block * float_bytes;
        const int64_t steps = tile.channels * g_.taps();
        tile.next_step = ceil_div(step_bytes, tiles);
        tile.next =
            reinterpret_cast<const std::byte*>(tile.weights) + steps * step_bytes + index * steps * tile.next_step;
    }

    int64_t tiles_of_row(const BlockGroup& group, const Area& area) const {
        return ceil_div(area.last_column - area.column, most_pixels_[static_cast<size_t>(group.blocks)]);
    }

    // Tiles of nearly equal width: narrow ones leave multiply-add units idle.
    void run_columns(const Args& args, const BlockGroup& group, const Area& area, int64_t oh, DirectTile& tile) const {
        const int64_t columns = area.last_column - area.column;
        const int64_t count = tiles_of_row(group, area);
        const int64_t asked = tile.channels * g_.taps() * tile.next_step;
        int64_t column = area.column;
        for (int64_t t = 0; t < count; ++t) {
            const int64_t next = area.column + (t + 1) * columns / count;
            tile.column = column * g_.stride_w - g_.pad_left;
            tile.dst =
                reinterpret_cast<float*>(args.dst[0]) + dst_row(area.image, group.block, oh, column) * tiles_.block;
            tiles_.tiles[group.blocks][next - column](tile);
            tile.next += asked;
            column = next;
        }
    }

    // The output seen as rows of one block of channels each.
    int64_t dst_row(int64_t image, int64_t block, int64_t oh, int64_t ow) const {
        return ((image * blocks_.dst_blocks + block) * g_.oh + oh) * g_.ow + ow;
    }

    ConvGeometry g_;
    const DirectTiles& tiles_;
    Blocks blocks_;
    std::optional<TileProgram> program_;
    std::vector<int64_t> most_pixels_;  // by blocks of a tile
    int64_t turn_ = 1;                  // input channels, whole blocks
    bool image_stays_ = false;          // neighbouring units are the groups of one area
    int64_t rows_ = 1, columns_ = 1, row_units_ = 1, column_units_ = 1;
};

// [group of blocks][image block][tap][channel][output channel of the group], zeros where there is no such channel.
std::vector<Tensor> pack(const DirectTiles& tiles, const Problem& problem, const Choices& choices,
                         std::span<const Tensor* const> constants) {
    const ConvGeometry g = conv_geometry(problem);
    const Blocks blocks = make_blocks(tiles, problem, g, choices);
    Tensor weights(ElementType::f32, Shape{blocks.weights}),
        init(ElementType::f32, Shape{blocks.dst_blocks * tiles.block});
    const float* source = constants[1]->data<float>().data();
    float* packed = weights.mutable_data<float>().data();
    for (const BlockGroup& group : blocks.groups) {
        const int64_t width = group.blocks * tiles.block;
        for (int64_t lane = 0; lane < width; ++lane) {
            const int64_t oc = group.block * tiles.block + lane;
            if (oc >= g.oc) break;
            for (int64_t c = 0; c < g.group_ic(); ++c)
                for (int64_t tap = 0; tap < g.taps(); ++tap) {
                    const int64_t row =
                        (c / blocks.src_block * g.taps() + tap) * blocks.src_block + c % blocks.src_block;
                    packed[group.weights + row * width + lane] = source[(oc * g.group_ic() + c) * g.taps() + tap];
                }
        }
    }
    if (g.has_bias)
        for (int64_t oc = 0; oc < g.oc; ++oc) init.set(oc, constants[2]->at(oc));
    return {std::move(weights), std::move(init)};
}

Verdict supports(const DirectTiles& tiles, const Problem& problem) {
    ConvGeometry g{};
    if (Verdict verdict = read_conv(problem, g); !verdict) return verdict;
    constexpr int64_t most_plain_channels = 4;  // more would be gathered from too many planes
    const Layout src = problem.src[0]->layout, dst = problem.dst[0].layout;
    const bool plain = src == Layout::plain && g.ic <= most_plain_channels;
    if (channel_block(dst) != tiles.block || (src != dst && !plain))
        return Verdict::no(Reason::layout, std::string(to_string(src)) + " to " + std::string(to_string(dst)) +
                                               " (needs channel blocks of " + std::to_string(tiles.block) +
                                               ", or a plain image with at most 4)");
    if (g.group > 1 && (g.group_ic() % channel_block(src) != 0 || g.group_oc() % tiles.block != 0))
        return Verdict::no(Reason::attribute, std::to_string(g.group) + " groups of " + std::to_string(g.group_ic()) +
                                                  " to " + std::to_string(g.group_oc()) +
                                                  " channels (needs whole blocks of " + std::to_string(tiles.block) +
                                                  ")");
    if (problem.epilogue.empty()) return Verdict::yes();
    return TileProgram::supports(problem.epilogue, problem.dst[0], problem.operands, 1);
}

// Share of peak, measured by bench/kernels. Two 512-bit multiply-adds a cycle (Zen 5) only halve the computing itself.
double efficiency(const DirectTiles& tiles, const ConvGeometry& g, const Blocks& blocks, const Target& target,
                  const Choices& choices) {
    int narrowest = DirectTiles::most_blocks;
    for (const BlockGroup& group : blocks.groups) narrowest = std::min(narrowest, group.blocks);
    const int64_t most = most_pixels(tiles, narrowest, choices);
    const double pixels = static_cast<double>(g.ow) / static_cast<double>(std::max<int64_t>(1, ceil_div(g.ow, most)));
    const double k = static_cast<double>(g.k());
    const bool wide = tiles.block == 16, two_a_cycle = wide && target.fma512 == 2;
    double share = (wide ? 0.96 : 0.9) * k / (k + 8);
    share *= std::min(1.0, pixels * narrowest / 9);        // fewer sums do not hide the latency of multiply-adds
    if (narrowest == 1) share *= two_a_cycle ? 0.5 : 0.7;  // each pixel is loaded for a single product
    // Finding the pixels under a tap shows where there is little to do with them.
    const double products = static_cast<double>(std::min(blocks.src_block, g.group_ic()) * narrowest);
    share *= products / (products + 0.8);
    if (blocks.plain && two_a_cycle) share *= k / (k + 24);  // pixels are gathered for short sums
    if (g.taps() == 1) share *= two_a_cycle ? 0.89 : wide ? 0.95 : 0.9;
    return share;
}

Work work_of(const DirectTiles& tiles, const Problem& problem, const Target& target, const Choices& choices) {
    const ConvGeometry g = joined_rows(conv_geometry(problem));
    const Blocks blocks = make_blocks(tiles, problem, g, choices);
    const double oc = static_cast<double>(std::max<int64_t>(1, g.oc));
    const double waste = static_cast<double>(blocks.dst_blocks * tiles.block) / oc;
    return {conv_flops(g) * waste, conv_bytes(problem, g, 4), efficiency(tiles, g, blocks, target, choices)};
}

}  // namespace

Kernel::Fields direct_conv(Isa isa, std::string_view isa_name, const DirectTiles& tiles) {
    Kernel::Fields fields;
    fields.name = "conv.direct." + std::string(isa_name);
    fields.algorithm = "direct";
    fields.help = "Convolution over channel-blocked images, a few pixels and blocks of output channels in registers.";
    fields.ops = {"Conv"};
    fields.isa = isa;
    fields.knobs = {&blocks_knob, &pixels_knob, &weights_kb_knob};
    fields.supports = [&tiles](const Problem& problem, const Target&, const Choices&) {
        return supports(tiles, problem);
    };
    fields.work = [&tiles](const Problem& problem, const Target& target, const Choices& choices) {
        return work_of(tiles, problem, target, choices);
    };
    fields.pack = [&tiles](const Problem& problem, const Target&, const Choices& choices,
                           std::span<const Tensor* const> constants) {
        return pack(tiles, problem, choices, constants);
    };
    fields.prepare = [isa, &tiles](const Problem& problem, const Target& target, const Choices& choices) {
        return std::make_unique<Direct>(tiles, isa, problem, target, choices);
    };
    return fields;
}

namespace {

const Kernel direct_baseline{direct_conv(Isa::baseline, "baseline", direct_tiles(Isa::baseline))};
const Kernel direct_avx2{direct_conv(Isa::avx2, "avx2", direct_tiles(Isa::avx2))};
const Kernel direct_avx512{direct_conv(Isa::avx512, "avx512", direct_tiles(Isa::avx512))};

}  // namespace
}  // namespace headway
