#include "peak.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>

#include "base/error.h"
#include "kernels/target.h"

namespace headway {
namespace {

using Clock = std::chrono::steady_clock;

// Asked once: CPUID takes microseconds on a virtual machine.
bool is_wide() {
    static const bool wide = runs_here(Isa::avx512);
    return wide;
}
bool is_measurable() { return is_wide() || runs_here(Isa::avx2); }

struct Free {
    void operator()(float* memory) const { std::free(memory); }
};

// Floats on page boundaries, all of them touched; a multiple of 8 of the widest vectors.
struct Floats {
    explicit Floats(int64_t bytes) : count(std::max<int64_t>(bytes / 512, 1) * 128) {
        memory.reset(
            static_cast<float*>(std::aligned_alloc(4096, (static_cast<size_t>(count) * 4 + 4095) / 4096 * 4096)));
        HEADWAY_CHECK(memory != nullptr);
        std::fill_n(memory.get(), count, 1.0F);
    }
    int64_t count;
    std::unique_ptr<float, Free> memory;
};

// The best of repeats of at least 2 ms, in GB/s.
template <class Pass>
double best_gb_per_s(double bytes, Pass&& pass) {
    const int passes = static_cast<int>(std::max(1.0, 2e8 / bytes));
    double best = 0;
    for (int repeat = 0; repeat < 12; ++repeat) {
        const auto start = Clock::now();
        for (int i = 0; i < passes; ++i) pass();
        const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
        best = std::max(best, bytes * passes / seconds * 1e-9);
    }
    return best;
}

}  // namespace

double measured_read_gb_per_s(int64_t bytes) {
    if (!is_measurable()) return 0;
    const Floats floats(bytes);
    return best_gb_per_s(static_cast<double>(floats.count) * 4, [&] {
        volatile float kept = is_wide() ? avx512::read_loop(floats.memory.get(), floats.count)
                                        : avx2::read_loop(floats.memory.get(), floats.count);
        static_cast<void>(kept);
    });
}

double measured_copy_gb_per_s(int64_t bytes) {
    if (!is_measurable()) return 0;
    const Floats from(bytes / 2), to(bytes / 2);
    return best_gb_per_s(static_cast<double>(from.count) * 8, [&] {
        (is_wide() ? avx512::copy_loop : avx2::copy_loop)(from.memory.get(), to.memory.get(), from.count);
    });
}

double measured_peak_gflops() {
    const bool wide = is_wide();
    if (!is_measurable()) return 0;
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
