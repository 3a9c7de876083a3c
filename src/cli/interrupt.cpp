#include "cli/interrupt.h"

#include <algorithm>
#include <array>
#include <csignal>

#include "base/error.h"

namespace headway {
namespace {

std::atomic<bool> stop_requested = false;
std::array<int, 4> handled{};  // 0 = none

void on_signal(int) {
    stop_requested = true;
    for (const int signal : handled)
        if (signal != 0) std::signal(signal, SIG_DFL);
}

}  // namespace

const std::atomic<bool>& stop_on(std::initializer_list<int> signals) {
    HEADWAY_CHECK(signals.size() <= handled.size());
    std::ranges::copy(signals, handled.begin());
    for (const int signal : signals) std::signal(signal, on_signal);
    return stop_requested;
}

}  // namespace headway
