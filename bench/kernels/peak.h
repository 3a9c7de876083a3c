// The multiply-add peak of the core this runs on, in GFLOP/s, measured: what kernel speeds are compared with.
#pragma once

namespace headway {

double measured_peak_gflops();

namespace avx2 {
float multiply_add_loop(int rounds);
}
namespace avx512 {
float multiply_add_loop(int rounds);
}
inline constexpr int multiply_adds_per_round = 12;  // vectors

}  // namespace headway
