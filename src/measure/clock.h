// The one clock of every measurement: CLOCK_MONOTONIC_RAW, which no time service slews.
#pragma once

#include <cstdint>

namespace headway {

int64_t clock_ns();

// CPU time of the calling thread, and of this process with all its threads, in nanoseconds.
int64_t thread_cpu_ns();
int64_t process_cpu_ns();

// The smallest step that this machine's clock was seen to make, at least what the kernel reports.
int64_t clock_resolution_ns();

}  // namespace headway
