#include "base/limits.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <fstream>
#include <string>

#include "base/error.h"

namespace headway {
namespace {

// The number in the first line of a control group's file; nothing is taken from "max" or from a file that is not there.
void tighten(int64_t& limit, const std::string& path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    int64_t value = 0;
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), value);
    if (error == std::errc() && value > 0) limit = std::min(limit, value);
}

int64_t machine_memory() {
    int64_t limit = static_cast<int64_t>(::sysconf(_SC_PHYS_PAGES)) * ::sysconf(_SC_PAGESIZE);
    rlimit space{};
    if (::getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur < static_cast<rlim_t>(limit))
        limit = static_cast<int64_t>(space.rlim_cur);
    const std::string groups = "/sys/fs/cgroup";
    tighten(limit, groups + "/memory/memory.limit_in_bytes");  // version 1
    std::ifstream own("/proc/self/cgroup");
    for (std::string line; std::getline(own, line);) {
        if (!line.starts_with("0::")) continue;
        // version 2: each ancestor counts
        for (std::string path = line.substr(3);; path.resize(path.rfind('/'))) {
            tighten(limit, groups + path + "/memory.max");
            if (path.rfind('/') == std::string::npos) break;
        }
    }
    return limit;
}

Limits& current() {
    static Limits limits{.memory = machine_memory()};
    return limits;
}

std::atomic<int64_t> claimed{0};

}  // namespace

const Limits& limits() { return current(); }

void set_limits(const Limits& limits) { current() = limits; }

MemoryClaim::MemoryClaim(int64_t bytes) : bytes_(bytes) {
    const int64_t limit = limits().memory;
    if (bytes > limit || claimed.fetch_add(bytes) > limit - bytes) {
        if (bytes <= limit) claimed.fetch_sub(bytes);
        throw UserError("out of memory: " + std::to_string(bytes) + " more bytes pass the limit of " +
                        std::to_string(limit));
    }
}

MemoryClaim::~MemoryClaim() { claimed.fetch_sub(bytes_); }

}  // namespace headway
