#include "measure/cache_sweep.h"

#include <algorithm>
#include <fstream>

#include "measure/clock.h"

namespace headway {
namespace {

constexpr int64_t usual_cache_bytes = int64_t{32} << 20;
// A cache that virtual machines report but share with many others would cost a second to sweep.
constexpr int64_t most_cache_bytes = int64_t{512} << 20;
constexpr int64_t words_per_line = 64 / sizeof(int64_t);

}  // namespace

int64_t last_level_cache_bytes(const std::string& root) {
    int64_t largest = 0;
    for (int index = 0; index < 8; ++index) {
        // "32768K"
        std::ifstream file(root + "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/size");
        int64_t number = 0;
        char unit = 0;
        if (!(file >> number >> unit)) continue;
        const int64_t bytes = unit == 'K' ? number << 10 : unit == 'M' ? number << 20 : 0;
        largest = std::max(largest, bytes);
    }
    return largest > 0 ? std::min(largest, most_cache_bytes) : usual_cache_bytes;
}

void CacheSweep::allocate() {
    if (buffer_.empty()) buffer_.resize(static_cast<size_t>(2 * last_level_cache_bytes()) / sizeof(int64_t));
}

// Writes, so that lines of others are evicted even where reads alone would be kept apart as a stream.
void CacheSweep::run() {
    allocate();
    for (size_t k = 0; k < buffer_.size(); k += words_per_line) ++buffer_[k];
}

double CacheSweep::read_gb_per_s() {
    allocate();
    int64_t sum = 0;
    const int64_t begin = clock_ns();
    for (const int64_t word : buffer_) sum += word;
    asm volatile("" : "+r"(sum));
    const int64_t ns = std::max<int64_t>(1, clock_ns() - begin);
    return static_cast<double>(buffer_.size() * sizeof(int64_t)) / static_cast<double>(ns);
}

}  // namespace headway
