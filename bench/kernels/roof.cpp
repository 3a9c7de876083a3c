// The roof of this machine's core as one line of JSON: peak of multiply-adds, and bandwidth where data fit into each
// level of memory. For bench/roofline.py. With a number of bytes instead: the bandwidth of reading a buffer of that
// size alone, for bench/decode.py.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>

#include "kernels/target.h"
#include "peak.h"

int main(int argc, char** argv) {
    using namespace headway;
    if (argc > 1) {
        std::printf("{\"read_gb_per_s\": %.1f}\n", measured_read_gb_per_s(std::atoll(argv[1])));
        return 0;
    }
    const Target target = Target::native();
    constexpr int64_t most = int64_t{1} << 30, least_memory = int64_t{256} << 20;
    struct Level {
        const char* name;
        int64_t capacity, bytes;  // what fits, and what is measured
    };
    const std::array<Level, 4> levels{{{"L1", target.l1_bytes, target.l1_bytes / 2},
                                       {"L2", target.l2_bytes, target.l2_bytes / 2},
                                       {"L3", target.l3_bytes, std::max(target.l3_bytes / 4, 4 * target.l2_bytes)},
                                       {"memory", 0, std::clamp(4 * target.l3_bytes, least_memory, most)}}};
    std::printf("{\"target\": \"%s\", \"peak_gflops\": %.1f, \"levels\": [", target.text().c_str(),
                measured_peak_gflops());
    for (const Level& level : levels)
        std::printf("%s{\"name\": \"%s\", \"capacity\": %lld, \"read_gb_per_s\": %.1f, \"copy_gb_per_s\": %.1f}",
                    &level == levels.data() ? "" : ", ", level.name, static_cast<long long>(level.capacity),
                    measured_read_gb_per_s(level.bytes), measured_copy_gb_per_s(level.bytes));
    std::printf("]}\n");
}
