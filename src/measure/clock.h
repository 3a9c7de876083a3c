// The one clock of every measurement: CLOCK_MONOTONIC_RAW, which no time service slews.
#pragma once

#include <cstdint>

namespace headway {

int64_t clock_ns();

// The smallest step that this machine's clock was seen to make, at least what the kernel reports.
int64_t clock_resolution_ns();

}  // namespace headway
