// Seeded random numbers that are the same with every standard library: std distributions and std::shuffle are not, and
// a study that resumes elsewhere must make the same proposals and orders.
#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <utility>

namespace headway {

class Rng {
public:
    explicit Rng(uint64_t seed) : engine_(seed) {}

    uint64_t next() { return engine_(); }
    // Uniform in 0..bound-1; bound is positive.
    uint64_t below(uint64_t bound);
    // Uniform in [0, 1).
    double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }
    bool coin() { return next() >> 63 != 0; }
    bool chance(double probability) { return unit() < probability; }

    template <class T>
    void shuffle(std::span<T> items) {
        for (size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[below(i)]);
    }

private:
    std::mt19937_64 engine_;
};

}  // namespace headway
