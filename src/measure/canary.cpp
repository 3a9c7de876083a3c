#include "measure/canary.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "base/text.h"
#include "measure/clock.h"
#include "measure/statistics.h"

namespace headway {
namespace {

constexpr size_t readings_before_judging = 5;
// About 0.1 ms a run; the best of three, because an interrupted run says nothing about the clock.
constexpr int64_t canary_additions = 400'000;
constexpr int canary_runs = 3;

}  // namespace

double canary_ghz() {
    int64_t best = INT64_MAX;
    for (int run = 0; run < canary_runs; ++run) {
        uint64_t sum = 0;
        uint64_t step = 3;
        const int64_t begin = clock_ns();
        for (int64_t i = 0; i < canary_additions; i += 8) {
            // a register operand: newer cores fold additions of constants into no time at all
            for (int k = 0; k < 8; ++k) {
                sum += step;
                asm volatile("" : "+r"(sum), "+r"(step));
            }
        }
        best = std::min(best, clock_ns() - begin);
    }
    return static_cast<double>(canary_additions) / static_cast<double>(std::max<int64_t>(best, 1));
}

std::optional<std::string> CanaryWatch::record(double reading) {
    readings_.push_back(reading);
    if (readings_.size() < readings_before_judging) return std::nullopt;
    change_ = reading / median(readings_) - 1;
    if (std::fabs(change_) <= most_change_) return std::nullopt;
    return what_ + " " + percent(std::fabs(change_)) + (change_ < 0 ? " below" : " above") + " the session's";
}

}  // namespace headway
