// The loops of micro.h around the register tiles, for the compiler to vectorise. Included once by each of
// micro_<isa>.cpp.
#pragma once

#include "kernels/cpu/integer/micro.h"

namespace headway::HEADWAY_ISA {
namespace {

int32_t move_row(const uint8_t* from, int64_t n, uint8_t flip, uint8_t* to) {
    int32_t sum = 0;
    for (int64_t k = 0; k < n; ++k) {
        const auto value = static_cast<uint8_t>(from[k] ^ flip);
        to[k] = value;
        sum += value;
    }
    return sum;
}

constexpr int columns = IntegerMicro::columns;

// Calls body with the number of columns: known to the compiler where the panel is whole.
template <class Body>
inline __attribute__((always_inline)) void for_width(int64_t width, Body body) {
    if (width == columns)
        body(columns);
    else
        body(static_cast<int>(width));
}

// The exact sums of n columns, less what the zero points make of them.
inline __attribute__((always_inline)) void exact_sums(const IntegerRow& row, int n, int32_t* sums) {
    const int32_t* c = row.c;
    const int32_t* column = row.column;
    for (int j = 0; j < n; ++j)
        sums[j] = static_cast<int32_t>(static_cast<uint32_t>(c[j]) + static_cast<uint32_t>(column[j]));
    if (row.b_zero == nullptr) return;
    const int32_t* zero = row.b_zero;
    const auto of_row = static_cast<uint32_t>(row.sum);
    for (int j = 0; j < n; ++j)
        sums[j] = static_cast<int32_t>(static_cast<uint32_t>(sums[j]) - static_cast<uint32_t>(zero[j]) * of_row);
}

void finish_i32(const IntegerRow& row, int32_t* y) {
    for_width(
        row.width, [&](int n) __attribute__((always_inline)) {
            int32_t sums[columns];
            exact_sums(row, n, sums);
            for (int j = 0; j < n; ++j) y[j] = sums[j];
        });
}

void finish_f32(const IntegerRow& row, const float* scale, const float* bias, float* y) {
    for_width(
        row.width, [&](int n) __attribute__((always_inline)) {
            int32_t sums[columns];
            float values[columns];
            exact_sums(row, n, sums);
            for (int j = 0; j < n; ++j) values[j] = static_cast<float>(sums[j]) * scale[j] + bias[j];
            for (int j = 0; j < n; ++j) y[j] = values[j];
        });
}

}  // namespace
}  // namespace headway::HEADWAY_ISA
