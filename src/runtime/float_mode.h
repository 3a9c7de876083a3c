// The floating-point mode of a thread while it runs an engine: rounding to nearest even, exceptions masked, and
// denormals flushed when the engine says so. The mode found is put back.
#pragma once

#include <xmmintrin.h>

namespace headway {

class FloatMode {
public:
    explicit FloatMode(bool flush_to_zero) : saved_(_mm_getcsr()) {
        constexpr unsigned all_masked = 0x1F80, flush_results = 0x8000, denormals_are_zero = 0x0040;
        _mm_setcsr(flush_to_zero ? all_masked | flush_results | denormals_are_zero : all_masked);
    }
    ~FloatMode() { _mm_setcsr(saved_); }
    FloatMode(const FloatMode&) = delete;
    FloatMode& operator=(const FloatMode&) = delete;

private:
    unsigned saved_;
};

}  // namespace headway
