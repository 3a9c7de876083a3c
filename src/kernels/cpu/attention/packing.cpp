#include "kernels/cpu/attention/packing.h"

#include <algorithm>

#include "base/checked.h"

namespace headway {
namespace {

// More rows of b than this do not stay in the first-level cache while the rows of a pass by.
constexpr int64_t longest_run = 256;

void clear_padding(const Panel& panel, int64_t rows, int64_t width, float* packed) {
    if (panel.columns == width) return;
    for (int64_t r = 0; r < rows; ++r) std::fill(packed + r * width + panel.columns, packed + (r + 1) * width, 0.0F);
}

}  // namespace

void pack_keys(const Panels& panels, const AttentionForm& form, const float* k, const AttentionOps& ops,
               const CopyOps& copies, float* packed) {
    for (size_t i = 0; i < panels.list().size(); ++i) {
        const Panel& panel = panels.list()[i];
        const int64_t width = int64_t{panel.vectors} * panels.lanes();
        float* out = packed + panel.b_offset;
        const float* first = k + panel.column * form.k.row;
        if (form.k.column == 1 || form.size == 1) {
            copies.transpose(reinterpret_cast<const std::byte*>(first), form.k.row, reinterpret_cast<std::byte*>(out),
                             width, panel.columns, form.size, sizeof(float), std::max<int64_t>(form.size, 8));
            clear_padding(panel, form.size, width, out);
        } else if (form.k.row == 1) {
            ops.copy_rows(first, form.k.column, form.size, panel.columns, 1, out, width);
        } else {
            panels.pack_panel(i, k, form.k.column, form.k.row, 1, packed);
        }
    }
}

void pack_values(const Panels& panels, const AttentionForm& form, const float* v, const AttentionOps& ops,
                 float* packed) {
    for (size_t i = 0; i < panels.list().size(); ++i) {
        const Panel& panel = panels.list()[i];
        if (form.v.column == 1)
            ops.copy_rows(v + panel.column, form.v.row, form.keys, panel.columns, 1, packed + panel.b_offset,
                          int64_t{panel.vectors} * panels.lanes());
        else
            panels.pack_panel(i, v, form.v.row, form.v.column, 1, packed);
    }
}

void PanelProduct::run(const float* const* rows, int64_t count, float* c, int64_t c_step) const {
    const int64_t first_column = panels.list()[panel_begin].column;
    int64_t k = k_begin;
    do {
        for (size_t i = panel_begin; i < panel_end; ++i) {
            const Panel& panel = panels.list()[i];
            GemmTile tile{};
            tile.segments = 1;
            tile.segment_step = 0;
            tile.offset = k - k_begin;
            tile.run = std::min(longest_run, k_end - k);
            tile.b = packed + panels.row_offset(panel, k);
            tile.c_step = c_step;
            tile.init = k == k_begin ? zeros : nullptr;
            tile.last = panel.last;
            // Tiles of nearly equal height, as in gemm/block.cpp.
            const int64_t tiles = ceil_div(count, micro.rows[panel.vectors]);
            int64_t row = 0;
            for (int64_t t = 0; t < tiles; ++t) {
                const int64_t next = (t + 1) * count / tiles;
                tile.rows = rows + row;
                tile.c = c + row * c_step + panel.column - first_column;
                micro.f32[panel.vectors][next - row](tile);
                row = next;
            }
        }
        k += longest_run;
    } while (k < k_end);
}

}  // namespace headway
