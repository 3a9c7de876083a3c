#include "kernels/cpu/gemm/block.h"

#include <algorithm>

#include "base/checked.h"

namespace headway {

const Knob<int64_t> gemm_mc_knob{{
    .name = "gemm.mc",
    .help = "Rows of a block of a matrix product or convolution; 0 = from the work and the caches.",
    .family = "kernel",
    .values = {0, 24, 48, 96, 192, 384},
    .scope = Scope::site,
    .witness = "conv_1x1",
    .witness_route = "conv.algorithm=gemm",
}};

const Knob<int64_t> gemm_nc_knob{{
    .name = "gemm.nc",
    .help = "Columns of a block of a matrix product or convolution; 0 = from the work and the caches.",
    .family = "kernel",
    .values = {0, 16, 32, 64, 128, 256, 1024},
    .scope = Scope::site,
    .witness = "conv_1x1",
    .witness_route = "conv.algorithm=gemm",
}};

const Knob<int64_t> gemm_kc_knob{{
    .name = "gemm.kc",
    .help = "Products per sum before the next rows are taken, so that this part of the weights stays in the "
            "first-level cache; pairs of products where they are computed in bf16.",
    .family = "kernel",
    .values = {256, 128, 384, 512, 1024, 1048576},
    .scope = Scope::site,
    .witness = "conv_1x1",
    .witness_route = "conv.algorithm=gemm",
}};

const Knob<std::string_view> gemm_prefetch_knob{{
    .name = "gemm.prefetch",
    .help = "Fetches the next panel of the weights into the second-level cache while one is multiplied; off pays where "
            "all weights of a network stay in that cache.",
    .family = "kernel",
    .values = {"on", "off"},
    .scope = Scope::site,
    .witness = "conv_1x1",
    .witness_route = "conv.algorithm=gemm",
}};

const Knob<int64_t> gemm_block_kflops_knob{{
    .name = "gemm.block_kflops",
    .help = "Work of a block of a matrix product or convolution, in thousands of operations, where gemm.mc and gemm.nc "
            "are 0: 2500 are 20 to 30 us of one core. Less gives the small products of audio and text models to "
            "several threads, more keeps panels of weights longer in the cache where products are large.",
    .family = "kernel",
    .values = {2500, 250, 1000, 5000, 20000},
    .scope = Scope::site,
    .witness = "conv_1x1",
    .witness_route = "conv.algorithm=gemm",
}};

const Knob<int64_t> gemm_l2_percent_knob{{
    .name = "gemm.l2_percent",
    .help = "Share of the second-level cache that a block's weights may fill, in percent. Less where the cache is "
            "shared with another thread or the rows of the left operand are long, more where rows are few.",
    .family = "kernel",
    .values = {50, 12, 25, 75, 100},
    .scope = Scope::site,
    .witness = "conv_1x1",
    .witness_route = "conv.algorithm=gemm",
}};

std::vector<const KnobBase*> blocking_knobs() {
    return {&gemm_mc_knob,       &gemm_nc_knob,           &gemm_kc_knob,
            &gemm_prefetch_knob, &gemm_block_kflops_knob, &gemm_l2_percent_knob};
}

Walk choose_walk(const Choices& choices) {
    return {choices.get(gemm_kc_knob), choices.get(gemm_prefetch_knob) == "on"};
}

namespace {

// A run of the product's k: whole segments, or a part of one segment.
struct KBlock {
    int64_t segment, segments, offset, run, k;
};

KBlock k_block_at(const RowPointers& a, int64_t kc, int64_t k) {
    const int64_t segment = k / a.run;
    const int64_t offset = k % a.run;
    if (a.run >= kc) return {segment, 1, offset, std::min(kc, a.run - offset), k};
    return {segment, std::min(std::max<int64_t>(1, kc / a.run), a.segments - segment), 0, a.run, k};
}

// `next_panel`: the element of packed B that is multiplied after this panel, or -1.
void multiply_panel(const PackedMatrix& b, const RowPointers& a, int64_t rows, size_t index, const KBlock& block,
                    int64_t next_panel, float* c, int64_t c_step) {
    const Panel& panel = b.panels->list()[index];
    const auto& functions = b.format == WeightFormat::bf16_pairs ? b.micro->bf16_pairs
                            : b.format == WeightFormat::bf16     ? b.micro->bf16
                                                                 : b.micro->f32;
    const size_t element = b.format == WeightFormat::bf16 ? sizeof(uint16_t) : sizeof(float);
    // Tiles of nearly equal height: one that is much lower than the others would waste the multiply-add units.
    const int64_t tiles = ceil_div(rows, b.micro->rows[panel.vectors]);
    GemmTile tile{};
    tile.segments = block.segments;
    tile.segment_step = a.step;
    tile.offset = a.offset + block.offset;
    tile.run = block.run;
    const int64_t begin = b.panels->row_offset(panel, block.k);
    tile.b = b.weights + static_cast<size_t>(begin) * element;
    tile.c_step = c_step;
    tile.init = block.k == 0 ? b.init + b.panels->init_offset(index) : nullptr;
    tile.last = panel.last;
    // Each tile asks for one line per k: as many tiles as a row of the panel has lines fetch the whole next panel.
    constexpr int64_t line = 64;
    const int64_t bytes = static_cast<int64_t>(element);
    const int64_t lines = next_panel < 0 ? 0 : ceil_div(int64_t{panel.vectors} * b.micro->lanes * bytes, line);
    int64_t row = 0;
    for (int64_t t = 0; t < tiles; ++t) {
        const int64_t next = (t + 1) * rows / tiles;
        tile.ahead = t < lines ? (next_panel - begin) * bytes + t * line : 0;
        tile.rows = a.pointers + block.segment * a.step + row;
        tile.c = c + row * c_step + panel.column;
        functions[panel.vectors][next - row](tile);
        row = next;
    }
}

// After the last panel of the block comes its first one with the next k, and at the end what lies behind the panel: the
// next columns or the next matrix.
int64_t begin_of_next(const PackedMatrix& b, size_t panel_begin, size_t panel, size_t panel_end, int64_t k,
                      int64_t next_k) {
    const std::span<const Panel> panels = b.panels->list();
    if (panel + 1 < panel_end) return b.panels->row_offset(panels[panel + 1], k);
    return b.panels->row_offset(panels[next_k < b.panels->k() ? panel_begin : panel], next_k);
}

}  // namespace

void multiply_block(const PackedMatrix& b, const RowPointers& a, int64_t rows, size_t panel_begin, size_t panel_end,
                    const Walk& walk, float* c, int64_t c_step) {
    const int64_t total = a.segments * a.run;
    int64_t k = 0;
    do {
        const KBlock block = total > 0 ? k_block_at(a, walk.kc, k) : KBlock{};
        const int64_t next_k = k + block.segments * block.run;
        for (size_t panel = panel_begin; panel < panel_end; ++panel) {
            const int64_t next = walk.prefetch ? begin_of_next(b, panel_begin, panel, panel_end, k, next_k) : -1;
            multiply_panel(b, a, rows, panel, block, next, c, c_step);
        }
        k = next_k;
    } while (k < total);
}

namespace {

// Nearly equal blocks of at most `columns`. Where there are few tiles, in a number that leaves no thread without one in
// the last round, if one more block or two can do that and all are equally wide.
int64_t even_columns(int64_t m, int64_t n, int64_t rows, int64_t columns, int64_t tile_columns, const Target& target) {
    constexpr int64_t most_more = 2, few_rounds = 8;
    const auto width = [&](int64_t blocks) { return round_up(ceil_div(n, blocks), tile_columns); };
    const int64_t least = ceil_div(n, columns), row_blocks = ceil_div(std::max<int64_t>(m, 1), rows);
    const auto tiles = [&](int64_t blocks) { return row_blocks * ceil_div(n, width(blocks)); };
    if (tiles(least) >= few_rounds * target.threads || tiles(least) % target.threads == 0) return width(least);
    for (int64_t blocks = least + 1; blocks <= least + most_more; ++blocks)
        if (tiles(blocks) % target.threads == 0 && blocks * width(blocks) < n + tile_columns) return width(blocks);
    return width(least);
}

}  // namespace

Blocking choose_blocking(int64_t m, int64_t n, int64_t k, const GemmMicro& micro, const Target& target,
                         const Choices& choices) {
    const double block_flops = 1e3 * static_cast<double>(choices.get(gemm_block_kflops_knob));
    const int64_t kk = std::max<int64_t>(1, k);
    const int64_t tile_rows = micro.rows[2];
    const int64_t tile_columns = int64_t{2} * micro.lanes;
    const int64_t weight_bytes = target.l2_bytes / 100 * choices.get(gemm_l2_percent_knob);
    const int64_t cached_columns = std::max(tile_columns, weight_bytes / (kk * 4) / tile_columns * tile_columns);
    int64_t columns = std::min(n, cached_columns);
    int64_t rows = static_cast<int64_t>(block_flops / (2.0 * static_cast<double>(columns * kk)));
    rows = std::clamp(round_up(rows, tile_rows), 4 * tile_rows, round_up(std::max<int64_t>(m, 1), tile_rows));
    if (rows >= m) {
        const int64_t wanted =
            static_cast<int64_t>(block_flops / (2.0 * static_cast<double>(std::max<int64_t>(m, 1) * kk)));
        columns = std::min(columns, std::max(tile_columns, wanted / tile_columns * tile_columns));
    }
    if (const int64_t mc = choices.get(gemm_mc_knob); mc > 0) rows = mc;
    if (const int64_t nc = choices.get(gemm_nc_knob); nc > 0) columns = std::min(n, nc);
    if (m > 0) rows = round_up(ceil_div(m, ceil_div(m, rows)), tile_rows);
    if (n > 0 && choices.get(gemm_nc_knob) == 0) columns = even_columns(m, n, rows, columns, tile_columns, target);
    return {std::max<int64_t>(1, rows), std::max<int64_t>(1, columns), choose_walk(choices)};
}

std::vector<ColumnBlock> column_blocks(const Panels& panels, int64_t columns) {
    std::vector<ColumnBlock> blocks;
    for (size_t i = 0; i < panels.list().size(); ++i) {
        const Panel& panel = panels.list()[i];
        if (blocks.empty() || blocks.back().columns + panel.columns > columns)
            blocks.push_back({i, i, panel.column, 0});
        blocks.back().panel_end = i + 1;
        blocks.back().columns += panel.columns;
    }
    return blocks;
}

}  // namespace headway
