// Memory traffic of twice the last-level cache: what was cached before is gone afterwards. The cold scenario runs it
// before each iteration; its speed is the memory canary.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace headway {

// Bytes of the largest cache of CPU 0, 32 MiB where the system does not say. `root` is put before /sys.
int64_t last_level_cache_bytes(const std::string& root = "");

class CacheSweep {
public:
    // Takes the memory at the first run.
    void run();
    // One streaming read, in GB/s.
    double read_gb_per_s();

private:
    void allocate();
    std::vector<int64_t> buffer_;
};

}  // namespace headway
