#include "kernels/cpu/winograd/split.h"

#include <algorithm>
#include <limits>

#include "base/checked.h"

namespace headway {
namespace {

constexpr int64_t float_bytes = sizeof(float);

// Multiply-adds, in flops, that a core does while a byte of weights arrives from beyond the second-level cache or from
// it: 190 GFLOP/s beside 20 and 60 GB/s.
constexpr double far_byte = 10, near_byte = 3;

// Time of the slowest thread, in flops.
double cost(const WinogradSize& size, const WinogradSplit& split, const Target& target) {
    const auto real = [](int64_t x) { return static_cast<double>(x); };
    const double block = real(size.points * split.block);
    const double oc = real(size.oc) / real(split.column_parts);
    const double transforms = block * winograd_transform_flops * (real(size.ic) + oc);
    const double product = 2 * block * real(size.ic) * oc / winograd_reuse(real(split.block));
    const double bytes = real(size.points * size.ic) * oc * float_bytes;
    const double weights = bytes * (bytes > real(target.l2_bytes) / 2 ? far_byte : near_byte);
    const int64_t rounds = ceil_div(split.blocks * split.column_parts, int64_t{target.threads});
    return real(rounds) * (transforms + std::max(product, weights) + 0.15 * std::min(product, weights));
}

}  // namespace

double winograd_reuse(double tiles) { return tiles * tiles / (tiles * tiles + 32); }

WinogradSplit split_winograd(const WinogradSize& size, int64_t tile_rows, int64_t tile_columns, const Target& target,
                             int64_t asked) {
    if (size.tiles == 0) return {1, 0, 1};
    WinogradSplit best{};
    double least = std::numeric_limits<double>::infinity();
    const int64_t most_parts = std::clamp<int64_t>(size.oc / tile_columns, 1, int64_t{2} * target.threads);
    for (int64_t parts = 1; parts <= most_parts; ++parts) {
        const int64_t per_tile = std::max<int64_t>(1, size.points * (size.ic + size.oc / parts) * float_bytes);
        const int64_t cached = target.l2_bytes * 3 / 4 / per_tile / tile_rows * tile_rows;
        const int64_t most = asked > 0 ? asked : std::clamp(cached, 2 * tile_rows, 16 * tile_rows);
        const int64_t fewest = ceil_div(size.tiles, most);
        const int64_t more = asked > 0 || target.threads == 1 ? 0 : int64_t{3} * target.threads;
        for (int64_t blocks = fewest; blocks <= std::min(fewest + more, size.tiles); ++blocks) {
            const int64_t block = ceil_div(size.tiles, blocks);
            const WinogradSplit split{block, ceil_div(size.tiles, block), parts};
            const double time = cost(size, split, target);
            if (time < least) least = time, best = split;
        }
    }
    return best;
}

}  // namespace headway
