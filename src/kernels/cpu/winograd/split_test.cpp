#include "kernels/cpu/winograd/split.h"

#include <gtest/gtest.h>

namespace headway {
namespace {

Target target_with(int threads) {
    Target target = Target::parse("avx512");
    target.l2_bytes = 1 << 20;
    target.threads = threads;
    return target;
}

WinogradSplit split(const WinogradSize& size, int threads, int64_t asked = 0) {
    return split_winograd(size, 12, 32, target_with(threads), asked);
}

TEST(WinogradSplit, CoversAllTiles) {
    for (int threads : {1, 2, 3, 16})
        for (int64_t points : {16, 36})
            for (int64_t tiles : {1, 2, 13, 49, 196, 5000})
                for (int64_t channels : {1, 17, 64, 512})
                    for (int64_t asked : {0, 6, 48}) {
                        const WinogradSplit s = split({points, tiles, channels, channels}, threads, asked);
                        EXPECT_GE(s.block * s.blocks, tiles);
                        EXPECT_LT(s.block * (s.blocks - 1), tiles);
                        EXPECT_GE(s.column_parts, 1);
                        if (asked > 0) EXPECT_LE(s.block, asked);
                    }
}

TEST(WinogradSplit, NoTiles) { EXPECT_EQ(split({36, 0, 64, 64}, 2).blocks, 0); }

// Weights of 2.4 MB and 16 tiles: two blocks of tiles would each read all of them.
TEST(WinogradSplit, HeavyWeightsAreReadOnce) {
    const WinogradSplit s = split({36, 16, 128, 128}, 2);
    EXPECT_EQ(s.blocks, 1);
    EXPECT_EQ(s.column_parts, 2);
}

// Weights of 37 KB and many tiles: the input is transformed once.
TEST(WinogradSplit, ManyTilesShareTheInput) {
    const WinogradSplit s = split({36, 1600, 16, 16}, 2);
    EXPECT_EQ(s.column_parts, 1);
    EXPECT_EQ(s.blocks % 2, 0);
}

}  // namespace
}  // namespace headway
