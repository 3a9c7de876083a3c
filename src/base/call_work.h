// The work of one call: a build, or a run of a model. A file of 200 bytes can ask for years of it (a loop of 2^62
// turns, overlaps of a million boxes), so whoever computes what a file asks for charges it here first, and the call
// ends when limits().work is spent. Work is counted, not timed: the same model and data are refused on every machine,
// or on none.
#pragma once

#include <cstdint>

namespace headway {

// One operation: a multiply-add or an element visited by a kernel. References take longer for the same.
inline constexpr int64_t reference_weight = 64;
// A node run by its reference, or a sub-graph run once, counts as at least this much work of a reference.
inline constexpr int64_t node_run_work = int64_t{1} << 12;

// A call by this thread, as long as it lives. A call inside another is a part of it.
class CallWork {
public:
    CallWork();
    ~CallWork();
    CallWork(const CallWork&) = delete;
    CallWork& operator=(const CallWork&) = delete;
};

// Counts operations of this thread's call, or of a call of their own where there is none. UserError when they pass
// limits().work.
void charge_work(int64_t operations);
void charge_reference_work(int64_t operations);

}  // namespace headway
