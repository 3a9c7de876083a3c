#include "measure/clock.h"

#include <time.h>

#include <algorithm>
#include <limits>

#include "base/error.h"

namespace headway {
namespace {

int64_t to_ns(const timespec& time) { return static_cast<int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec; }

int64_t read(clockid_t clock) {
    timespec now{};
    HEADWAY_CHECK(::clock_gettime(clock, &now) == 0);
    return to_ns(now);
}

}  // namespace

int64_t clock_ns() { return read(CLOCK_MONOTONIC_RAW); }
int64_t thread_cpu_ns() { return read(CLOCK_THREAD_CPUTIME_ID); }
int64_t process_cpu_ns() { return read(CLOCK_PROCESS_CPUTIME_ID); }

int64_t clock_resolution_ns() {
    timespec reported{};
    HEADWAY_CHECK(::clock_getres(CLOCK_MONOTONIC_RAW, &reported) == 0);
    int64_t step = std::numeric_limits<int64_t>::max();
    for (int i = 0; i < 200; ++i) {
        const int64_t begin = clock_ns();
        int64_t end = clock_ns();
        while (end == begin) end = clock_ns();
        step = std::min(step, end - begin);
    }
    return std::max(step, to_ns(reported));
}

}  // namespace headway
