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

// Sixteen channels at a time: the compiler does not see by itself that bytes widen to 32 bits in registers.
typedef uint8_t unsigned_bytes __attribute__((vector_size(16)));
typedef int8_t signed_bytes __attribute__((vector_size(16)));
typedef int16_t products __attribute__((vector_size(32)));  // they fit: 255 * -128 at the least
typedef int32_t wide_sums __attribute__((vector_size(64)));

void depthwise(const uint8_t* const* taps, int64_t count, int64_t first, int64_t width, uint8_t flip,
               const int8_t* weights, int64_t step, int32_t* sums) {
    constexpr int64_t block = 16;
    int64_t j = 0;
    for (; j + block <= width; j += block) {
        wide_sums total = {};
        for (int64_t tap = 0; tap < count; ++tap) {
            unsigned_bytes x;
            signed_bytes w;
            __builtin_memcpy(&x, taps[tap] + first + j, sizeof x);
            __builtin_memcpy(&w, weights + tap * step + j, sizeof w);
            const products each = __builtin_convertvector(x ^ flip, products) * __builtin_convertvector(w, products);
            total += __builtin_convertvector(each, wide_sums);
        }
        __builtin_memcpy(sums + j, &total, sizeof total);
    }
    for (; j < width; ++j) {
        sums[j] = 0;
        for (int64_t tap = 0; tap < count; ++tap)
            sums[j] += static_cast<uint8_t>(taps[tap][first + j] ^ flip) * weights[tap * step + j];
    }
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

void finish_bytes(const IntegerRow& row, const float* scale, float low, float high, float zero, uint8_t* y) {
    // Added to a small number, it leaves no room for a fraction: rounding to nearest even that every vector unit has.
    constexpr float round = 12582912.0F;  // 1.5 * 2^23
    for_width(
        row.width, [&](int n) __attribute__((always_inline)) {
            int32_t sums[columns];
            uint8_t bytes[columns];
            exact_sums(row, n, sums);
            for (int j = 0; j < n; ++j) {
                float value = static_cast<float>(sums[j]) * scale[j];
                value = value > low ? value : low;
                value = value < high ? value : high;
                bytes[j] = static_cast<uint8_t>(static_cast<int32_t>((value + round) - round + zero));
            }
            for (int j = 0; j < n; ++j) y[j] = bytes[j];
        });
}

}  // namespace
}  // namespace headway::HEADWAY_ISA
