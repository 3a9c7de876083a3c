#include "kernels/cpu/integer/product.h"

#include <algorithm>
#include <array>

#include "base/checked.h"

namespace headway {

const Knob<int64_t> integer_rows_knob{{
    .name = "integer.rows",
    .help = "Rows of a product of 8-bit integers (pixels of a convolution) that are one unit of scheduling. More reads "
            "the weights less often, fewer balance short sequences and small maps over threads.",
    .family = "kernel",
    .values = {32, 8, 16, 64, 128},
    .scope = Scope::site,
    .witness = "matmul_integer",
}};

namespace {

constexpr std::array<IntegerIsa, 3> isas{
    {{"avx512vnni", Isa::avx512, true, avx512vnni::integer_micro, avx512vnni::byte_tiles},
     {"avx2", Isa::avx2, false, avx2::integer_micro, avx2::byte_tiles},
     {"baseline", Isa::baseline, false, baseline::integer_micro, baseline::byte_tiles}}};

}  // namespace

std::span<const IntegerIsa> integer_isas() { return isas; }

Verdict runs_on(const IntegerIsa& isa, const Target& target) {
    if (isa.needs_vnni && !target.avx512_vnni) return Verdict::no(Reason::isa, "needs AVX512_VNNI");
    return Verdict::yes();
}

int64_t IntegerPanels::quads() const { return ceil_div(k, 4); }
int64_t IntegerPanels::panels() const { return ceil_div(n, IntegerMicro::columns); }

void IntegerPanels::pack(const std::byte* from, int64_t k_step, int64_t n_step, uint8_t flip, int8_t* panels,
                         int32_t* sums) const {
    std::fill_n(panels, bytes(), int8_t{0});
    std::fill_n(sums, n, 0);
    for (int64_t column = 0; column < n; ++column) {
        int8_t* panel = panels + column / IntegerMicro::columns * panel_bytes() + column % IntegerMicro::columns * 4;
        for (int64_t at = 0; at < k; ++at) {
            const auto value = static_cast<int8_t>(static_cast<uint8_t>(from[at * k_step + column * n_step]) ^ flip);
            panel[at / 4 * 4 * IntegerMicro::columns + at % 4] = value;
            sums[column] += value;
        }
    }
}

IntegerRowRoom::IntegerRowRoom(const IntegerPanels& shape, int64_t rows)
    : k_(shape.k), step_(shape.row_bytes()), rows_(rows), sums_at_(round_up(rows * step_, 64)) {}

int32_t zero_point(const std::byte* at, ElementType type) {
    if (at == nullptr) return 0;
    const auto bits = static_cast<uint8_t>(*at);
    return type == ElementType::i8 ? static_cast<int8_t>(bits) : bits;
}

IntegerColumns columns_of_panel(const IntegerPanels& shape, int64_t panel, const int32_t* sums,
                                const IntegerZeros& zeros) {
    IntegerColumns columns;
    columns.first = panel * IntegerMicro::columns;
    columns.width = std::min<int64_t>(IntegerMicro::columns, shape.n - columns.first);
    for (int64_t j = 0; j < columns.width; ++j) {
        columns.b_zero[j] = zeros.column(columns.first + j);
        columns.b_moved = columns.b_moved || columns.b_zero[j] != 0;
        const auto lost = static_cast<uint32_t>(shape.k) * static_cast<uint32_t>(columns.b_zero[j]) -
                          static_cast<uint32_t>(sums[columns.first + j]);
        columns.column[j] = static_cast<int32_t>(static_cast<uint32_t>(zeros.a) * lost);
    }
    return columns;
}

Work integer_work(const IntegerIsa& isa, const IntegerPanels& shape, double rows, double bytes) {
    const double columns = static_cast<double>(shape.panels() * IntegerMicro::columns);
    Work work{2 * rows * static_cast<double>(shape.row_bytes()) * columns, bytes, 0};
    // Measured by the kernel bench against the core's f32 peak.
    work.efficiency = isa.needs_vnni ? 2.0 : isa.isa == Isa::avx2 ? 0.5 : 0.1;
    return work;
}

}  // namespace headway
