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

void multiply_panel(const PackedMatrix& b, const RowPointers& a, int64_t rows, size_t index, const KBlock& block,
                    float* c, int64_t c_step) {
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
    tile.b = b.weights + static_cast<size_t>(b.panels->row_offset(panel, block.k)) * element;
    tile.c_step = c_step;
    tile.init = block.k == 0 ? b.init + b.panels->init_offset(index) : nullptr;
    tile.last = panel.last;
    int64_t row = 0;
    for (int64_t t = 0; t < tiles; ++t) {
        const int64_t next = (t + 1) * rows / tiles;
        tile.rows = a.pointers + block.segment * a.step + row;
        tile.c = c + row * c_step + panel.column;
        functions[panel.vectors][next - row](tile);
        row = next;
    }
}

}  // namespace

void multiply_block(const PackedMatrix& b, const RowPointers& a, int64_t rows, size_t panel_begin, size_t panel_end,
                    int64_t kc, float* c, int64_t c_step) {
    const int64_t total = a.segments * a.run;
    int64_t k = 0;
    do {
        const KBlock block = total > 0 ? k_block_at(a, kc, k) : KBlock{};
        for (size_t panel = panel_begin; panel < panel_end; ++panel)
            multiply_panel(b, a, rows, panel, block, c, c_step);
        k += block.segments * block.run;
    } while (k < total);
}

Blocking choose_blocking(int64_t m, int64_t n, int64_t k, const GemmMicro& micro, const Target& target,
                         const Choices& choices) {
    constexpr double block_flops = 2.5e6;  // 20 to 30 us of one core
    const int64_t kk = std::max<int64_t>(1, k);
    const int64_t tile_rows = micro.rows[2];
    const int64_t tile_columns = int64_t{2} * micro.lanes;
    const int64_t cached_columns = std::max(tile_columns, target.l2_bytes / 2 / (kk * 4) / tile_columns * tile_columns);
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
    return {std::max<int64_t>(1, rows), std::max<int64_t>(1, columns), choices.get(gemm_kc_knob)};
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
