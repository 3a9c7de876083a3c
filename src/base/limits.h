// What untrusted input may make this process take. A file of 150 bytes can ask for any amount of memory or time, so
// whoever allocates or computes what a file asks for says so here first.
#pragma once

#include <cstdint>
#include <limits>
#include <utility>

namespace headway {

struct Limits {
    // Bytes of tensors and engine memory alive at once.
    int64_t memory;
    // Operations of one call, see base/call_work.h. No limit at first: the program sets one.
    int64_t work = std::numeric_limits<int64_t>::max();
};

// Those of this process. `memory` is at first what the machine has: the tightest of its main memory, the limits of the
// process's control groups and its RLIMIT_AS.
const Limits& limits();
// For the options --memory-limit and --work-limit and for tests; not while other threads use limits.
void set_limits(const Limits& limits);

// Bytes counted against limits().memory as long as it lives; UserError when they pass it, before anything is allocated.
class MemoryClaim {
public:
    MemoryClaim() = default;
    explicit MemoryClaim(int64_t bytes);
    ~MemoryClaim();
    MemoryClaim(MemoryClaim&& other) noexcept : bytes_(std::exchange(other.bytes_, 0)) {}
    MemoryClaim& operator=(MemoryClaim&& other) noexcept {
        std::swap(bytes_, other.bytes_);
        return *this;
    }

private:
    int64_t bytes_ = 0;
};

}  // namespace headway
