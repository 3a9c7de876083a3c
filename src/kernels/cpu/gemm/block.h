// One cache block of a product: some rows of A (by pointer) times some panels of packed B, walked in register tiles.
#pragma once

#include <cstdint>

#include "kernels/cpu/gemm/panels.h"

namespace headway {

// Row pointers of a block of A: pointers[s * step + row] leads to `run` consecutive values of segment s.
struct RowPointers {
    const float* const* pointers;  // or pointers to words of WeightFormat::bf16_pairs, and every number counts words
    int64_t step;
    int64_t segments;
    int64_t run;
    int64_t offset = 0;  // floats added to every pointer (a group's first channel)
};

struct PackedMatrix {
    const GemmMicro* micro;
    const Panels* panels;
    WeightFormat format;
    const std::byte* weights;  // the matrix
    const float* init;         // packed bias
};

// How the panels of B are gone through.
struct Walk {
    int64_t kc;     // products per sum before the next panel is taken
    bool prefetch;  // whether the next panel is fetched while one is multiplied
};

// c = init + A * B for rows [0, rows) and panels [panel_begin, panel_end); c points at row 0, column 0. Sums run over k
// in order whatever the walk, the number of rows and the panels are, so that results do not depend on the blocking.
void multiply_block(const PackedMatrix& b, const RowPointers& a, int64_t rows, size_t panel_begin, size_t panel_end,
                    const Walk& walk, float* c, int64_t c_step);

// The sizes of the blocks that a product is cut into: the unit of the engine's scheduler.
struct Blocking {
    int64_t rows;
    int64_t columns;
    Walk walk;
};

extern const Knob<int64_t> gemm_mc_knob, gemm_nc_knob, gemm_kc_knob;
extern const Knob<std::string_view> gemm_prefetch_knob;
// What choose_blocking reads, the walk included.
std::vector<const KnobBase*> blocking_knobs();

Walk choose_walk(const Choices& choices);

// Block sizes for an m x k by k x n product: B's block fits a share of the second-level cache, and a block is enough
// work to be worth scheduling and little enough to balance.
Blocking choose_blocking(int64_t m, int64_t n, int64_t k, const GemmMicro& micro, const Target& target,
                         const Choices& choices);

// Panels [begin, end) of a column block.
struct ColumnBlock {
    size_t panel_begin, panel_end;
    int64_t column, columns;
};
std::vector<ColumnBlock> column_blocks(const Panels& panels, int64_t columns);

}  // namespace headway
