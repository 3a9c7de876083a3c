#include "peak.h"

#include <algorithm>
#include <chrono>

#include "kernels/target.h"

namespace headway {

double measured_peak_gflops() {
    using Clock = std::chrono::steady_clock;
    const bool wide = runs_here(Isa::avx512);
    if (!wide && !runs_here(Isa::avx2)) return 0;
    constexpr int rounds = 200000;
    double best = 0;
    for (int repeat = 0; repeat < 20; ++repeat) {
        const auto start = Clock::now();
        volatile float kept = wide ? avx512::multiply_add_loop(rounds) : avx2::multiply_add_loop(rounds);
        static_cast<void>(kept);
        const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
        best = std::max(best, 2.0 * rounds * multiply_adds_per_round * (wide ? 16 : 8) / seconds * 1e-9);
    }
    return best;
}

}  // namespace headway
