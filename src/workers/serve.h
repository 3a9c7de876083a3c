// The worker's side of the protocol: reads requests from standard input and answers on what was standard output, until
// the input ends. Standard output then points at standard error, so a library that prints cannot break the protocol.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "workers/builder.h"

namespace headway {

// `make` is called once the descriptors are safe; what it throws is the answer to every request. `clock` times the
// blocks (tests bring their own; the default is CLOCK_MONOTONIC_RAW). Returns an exit code.
int serve(const std::function<std::unique_ptr<Builder>()>& make, const std::function<int64_t()>& clock = {});

}  // namespace headway
