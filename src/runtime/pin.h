// Threads on fixed CPUs: thread k of a pool goes to the k-th CPU that the process may use.
#pragma once

#include <sched.h>

namespace headway {

void pin_to_allowed_cpu(int index);

// Pins the calling thread to the first allowed CPU while it lives, and restores the set of CPUs that it had.
class PinnedCaller {
public:
    explicit PinnedCaller(bool active);
    ~PinnedCaller();
    PinnedCaller(const PinnedCaller&) = delete;
    PinnedCaller& operator=(const PinnedCaller&) = delete;

private:
    bool active_;
    cpu_set_t saved_;
};

}  // namespace headway
