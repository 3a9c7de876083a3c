// For the tests of kernels: the tiles of a phase each alone, which shows whether any two could run at the same time.
// Included by tests only.
#pragma once

#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "kernels/guarded.h"
#include "kernels/kernel.h"

namespace headway::testing {

// Caches so small that problems of a test's size are cut as large ones are on real machines, and a number of threads
// that divides little.
inline Target with_small_caches(Target target) {
    target.l1_bytes = 4 << 10;
    target.l2_bytes = 32 << 10;
    target.l3_bytes = 256 << 10;
    target.threads = 3;
    return target;
}

// Memory that tiles write, as it was before a phase, and what they have made of it.
class Written {
public:
    explicit Written(const Guarded& memory)
        : memory_(memory),
          before_(memory.data(), memory.data() + memory.size()),
          merged_(before_),
          touched_(memory.size(), false) {}

    void restore() const { std::ranges::copy(before_, memory_.data()); }
    void finish() const { std::ranges::copy(merged_, memory_.data()); }
    // Takes what a tile wrote. False when another tile wrote there.
    bool merge() {
        constexpr size_t run = 256;
        bool alone = true;
        for (size_t begin = 0; begin < memory_.size(); begin += run) {
            const size_t end = std::min(memory_.size(), begin + run);
            if (std::memcmp(memory_.data() + begin, before_.data() + begin, end - begin) == 0) continue;
            for (size_t i = begin; i < end; ++i) {
                if (memory_.data()[i] == before_[i]) continue;
                alone = alone && !touched_[i];
                touched_[i] = true;
                merged_[i] = memory_.data()[i];
            }
        }
        return alone;
    }

private:
    const Guarded& memory_;
    std::vector<std::byte> before_, merged_;
    std::vector<bool> touched_;
};

// Runs the tiles of a phase from the last to the first, each as if no other had run, so that none sees what another
// wrote. "" or the tile that wrote where a later one did. Where that would copy too much, the tiles merely follow one
// another.
inline std::string run_tiles_apart(const Prepared& prepared, const Args& args, int phase, const Guarded& scratch,
                                   std::span<const Guarded* const> memories) {
    constexpr double most_copied = 1 << 27;
    const int64_t tiles = prepared.tiles(phase);
    double bytes = 0;
    for (const Guarded* memory : memories) bytes += static_cast<double>(memory->size());
    std::vector<Written> written;
    if (bytes * static_cast<double>(tiles) <= most_copied)
        for (const Guarded* memory : memories) written.emplace_back(*memory);
    std::string complaint;
    for (int64_t tile = tiles; tile-- > 0;) {
        for (const Written& memory : written) memory.restore();
        scratch.refill(0xCD);
        prepared.run(args, phase, tile, tile + 1);
        for (Written& memory : written)
            if (!memory.merge())
                complaint = "tile " + std::to_string(tile) + " of " + std::to_string(tiles) + " in phase " +
                            std::to_string(phase) + " writes where a later one does";
    }
    for (const Written& memory : written) memory.finish();
    return complaint;
}

}  // namespace headway::testing
