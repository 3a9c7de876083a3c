// Requests handled by child processes of this program, a batch of them in each: a crash, a hang or a shortage of memory
// costs the request in hand; the next child goes on with the others.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace headway::conformance {

struct BatchLimits {
    int jobs = 1;    // children at a time
    int batch = 64;  // requests that one child handles
    // From one line of a child to the next: of its CPU time, and of time in which it uses none. Whoever else keeps the
    // machine busy does not count.
    double seconds = 60;
    int64_t memory_bytes = int64_t{6} << 30;  // address space of a child
};

// How a request ended, apart from what the child said.
struct Ending {
    enum Kind { answered, died, timed_out } kind = answered;
    std::string detail;
};

// Called for each request, from one thread at a time, in the order in which they end: the lines that the child wrote
// for it, the last of which is its answer when it `answered`.
using Ended = std::function<void(size_t request, const std::vector<nlohmann::json>& lines, const Ending& ending)>;
void run_in_children(const std::vector<nlohmann::json>& requests, const BatchLimits& limits, const Ended& ended);

// The child's side, entered with the one argument `--child`: `handle` answers one request and may send lines before. An
// exception from it ends the child.
using Handle = std::function<nlohmann::json(const nlohmann::json& request,
                                            const std::function<void(const nlohmann::json&)>& send)>;
int serve_batches(const Handle& handle);

}  // namespace headway::conformance
