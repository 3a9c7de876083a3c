// Checked arithmetic for every count and size that comes from a file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/error.h"

namespace headway {

// a*b and a+b of non-negative numbers; UserError naming `what` when the result does not fit an int64.
inline int64_t checked_mul(int64_t a, int64_t b, const char* what) {
    int64_t result = 0;
    if (a < 0 || b < 0 || __builtin_mul_overflow(a, b, &result)) throw UserError(std::string(what) + " is too large");
    return result;
}

inline int64_t checked_add(int64_t a, int64_t b, const char* what) {
    int64_t result = 0;
    if (a < 0 || b < 0 || __builtin_add_overflow(a, b, &result)) throw UserError(std::string(what) + " is too large");
    return result;
}

inline int64_t checked_product(std::span<const int64_t> factors, const char* what) {
    int64_t result = 1;
    for (int64_t factor : factors) result = checked_mul(result, factor, what);
    return result;
}

constexpr int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
constexpr int64_t round_up(int64_t a, int64_t b) { return ceil_div(a, b) * b; }

}  // namespace headway
