// Exact products of 8-bit integers less their zero points:
//     c[i][j] = sum over k of (a[i][k] - a_zero) * (b[k][j] - b_zero[j])
//             = sum a*b - b_zero[j] * sum a[i] - a_zero * sum b[j] + K * a_zero * b_zero[j]
// with the sums of b's columns packed beside it. Everything wraps as i32 does, so the result is exact modulo 2^32.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "kernels/cpu/integer/byte_tiles.h"
#include "kernels/cpu/integer/micro.h"
#include "kernels/kernel.h"

namespace headway {

// One way to run: an instruction set with its tiles.
struct IntegerIsa {
    std::string_view name;
    Isa isa;
    bool needs_vnni;
    const IntegerMicro& micro;
    const ByteTiles& bytes;
};
std::span<const IntegerIsa> integer_isas();
// Yes, or what the target lacks.
Verdict runs_on(const IntegerIsa& isa, const Target& target);

// Rows of a that are one unit of scheduling.
extern const Knob<int64_t> integer_rows_knob;

// b as panels of IntegerMicro::columns columns, and the sums of its columns.
struct IntegerPanels {
    int64_t k = 0, n = 0;

    int64_t quads() const;
    int64_t row_bytes() const { return 4 * quads(); }  // of a row of a, zeros behind k
    int64_t panels() const;
    int64_t panel_bytes() const { return quads() * 4 * IntegerMicro::columns; }
    int64_t bytes() const { return panels() * panel_bytes(); }
    // b[k][j] stands at from[k * k_step + j * n_step]; `flip` is 128 for unsigned values, else 0. sums has n entries.
    void pack(const std::byte* from, int64_t k_step, int64_t n_step, uint8_t flip, int8_t* panels, int32_t* sums) const;
};

// What moves values to the sign that micro.h wants: 128 for the other one. Of a and of b the types that are moved.
inline constexpr ElementType moved_a = ElementType::i8, moved_b = ElementType::u8;
constexpr uint8_t flip_of(ElementType type, ElementType moved) { return type == moved ? 128 : 0; }

// A zero point of one element of an 8-bit type, as an integer; 0 where `at` is null.
int32_t zero_point(const std::byte* at, ElementType type);

// The zero points of one product after the moves that micro.h speaks of.
struct IntegerZeros {
    int32_t a = 0;
    const std::byte* b = nullptr;  // null: 0
    ElementType b_type = ElementType::i8;
    bool b_per_column = false;

    int32_t column(int64_t j) const {
        return zero_point(b == nullptr ? nullptr : b + (b_per_column ? j : 0), b_type) - flip_of(b_type, moved_b);
    }
};

// Rows of a, moved to unsigned and padded, with their sums.
struct IntegerRows {
    const uint8_t* values;
    int64_t step;
    const int32_t* sums;
    int64_t count;
};

// Room for so many rows, in scratch memory.
class IntegerRowRoom {
public:
    IntegerRowRoom(const IntegerPanels& shape, int64_t rows);
    int64_t bytes() const { return sums_at_ + rows_ * static_cast<int64_t>(sizeof(int32_t)); }
    // fill(row, values) writes shape.k moved values and returns their sum; the padding is added here.
    template <class Fill>
    IntegerRows rows(std::byte* scratch, int64_t count, Fill&& fill) const {
        auto* values = reinterpret_cast<uint8_t*>(scratch);
        auto* sums = reinterpret_cast<int32_t*>(scratch + sums_at_);
        for (int64_t r = 0; r < count; ++r) {
            uint8_t* row = values + r * step_;
            sums[r] = fill(r, row);
            for (int64_t k = k_; k < step_; ++k) row[k] = 0;
        }
        return {values, step_, sums, count};
    }

private:
    int64_t k_, step_, rows_, sums_at_;
};

// What the zero points make of the columns of one panel.
struct IntegerColumns {
    int32_t column[IntegerMicro::columns];
    int32_t b_zero[IntegerMicro::columns];
    bool b_moved = false;  // some b_zero is not 0
    int64_t first = 0, width = 0;
};
IntegerColumns columns_of_panel(const IntegerPanels& shape, int64_t panel, const int32_t* sums,
                                const IntegerZeros& zeros);

// Calls finish(row, IntegerRow) for all rows and the columns of one panel.
template <class Finish>
void multiply_panel(const IntegerMicro& micro, const IntegerPanels& shape, const IntegerRows& a, int64_t panel,
                    const int8_t* panels, const IntegerColumns& columns, Finish&& finish) {
    alignas(64) int32_t c[IntegerMicro::most_rows * IntegerMicro::columns];
    for (int64_t row = 0; row < a.count;) {
        const int64_t left = a.count - row;
        const int64_t height = left < micro.rows ? left : micro.rows;
        micro.tiles[height]({a.values + row * a.step, a.step, panels + panel * shape.panel_bytes(), shape.quads(), c});
        for (int64_t r = 0; r < height; ++r)
            finish(row + r, IntegerRow{c + r * IntegerMicro::columns, columns.column,
                                       columns.b_moved ? columns.b_zero : nullptr, a.sums[row + r], columns.width});
        row += height;
    }
}

// Work of `rows` products with a row of a: multiply-adds at four (two without VNNI) to a lane's f32 one.
Work integer_work(const IntegerIsa& isa, const IntegerPanels& shape, double rows, double bytes);

}  // namespace headway
