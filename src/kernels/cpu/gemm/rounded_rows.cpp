#include "kernels/cpu/gemm/rounded_rows.h"

#include "base/checked.h"

namespace headway {
namespace {

constexpr int64_t cache_line = 64;

int64_t pointer_bytes(int64_t rows) { return round_up(rows * static_cast<int64_t>(sizeof(float*)), cache_line); }

// An odd number of cache lines: rows whose distance is a power of two would fight for the same sets of the cache.
int64_t row_bytes(int64_t k) {
    return (ceil_div(k * static_cast<int64_t>(sizeof(uint16_t)), cache_line) | 1) * cache_line;
}

}  // namespace

int64_t rounded_bytes(int64_t rows, int64_t k) { return pointer_bytes(rows) + rows * row_bytes(k); }

RowPointers round_rows(const GemmMicro& micro, const RowPointers& a, int64_t rows, std::byte* scratch) {
    const float** pointers = reinterpret_cast<const float**>(scratch);
    std::byte* words = scratch + pointer_bytes(rows);
    const int64_t k = a.segments * a.run, step = row_bytes(k);
    for (int64_t row = 0; row < rows; ++row) pointers[row] = reinterpret_cast<const float*>(words + row * step);
    micro.round({a.pointers, a.segments, a.step, a.offset, a.run, rows, reinterpret_cast<uint16_t*>(words),
                 step / static_cast<int64_t>(sizeof(uint16_t))});
    return {pointers, rows, 1, ceil_div(k, 2)};
}

}  // namespace headway
