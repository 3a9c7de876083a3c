#include "runtime/pin.h"

namespace headway {
namespace {

// Pinning only helps speed: where it is forbidden, threads run where the system puts them.
void pin_within(const cpu_set_t& allowed, int index) {
    const int count = CPU_COUNT(&allowed);
    if (count == 0) return;
    int left = index % count;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
        if (!CPU_ISSET(cpu, &allowed) || left-- > 0) continue;
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        ::sched_setaffinity(0, sizeof one, &one);
        return;
    }
}

}  // namespace

void pin_to_allowed_cpu(int index) {
    cpu_set_t allowed;
    if (::sched_getaffinity(0, sizeof allowed, &allowed) == 0) pin_within(allowed, index);
}

PinnedCaller::PinnedCaller(bool active) : active_(active) {
    if (!active_) return;
    active_ = ::sched_getaffinity(0, sizeof saved_, &saved_) == 0;
    if (active_) pin_within(saved_, 0);
}

PinnedCaller::~PinnedCaller() {
    if (active_) ::sched_setaffinity(0, sizeof saved_, &saved_);
}

}  // namespace headway
