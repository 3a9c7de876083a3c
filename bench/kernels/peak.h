// What the core this runs on can do at most, measured: what kernel speeds are compared with.
#pragma once

#include <cstdint>

namespace headway {

// Multiply-adds, in GFLOP/s; 0 without AVX2.
double measured_peak_gflops();
// GB/s of reading `bytes` again and again, and of copying half of them to the other half (both counted); 0 without
// AVX2.
double measured_read_gb_per_s(int64_t bytes);
double measured_copy_gb_per_s(int64_t bytes);

namespace avx2 {
float multiply_add_loop(int rounds);
float read_loop(const float* from, int64_t count);
void copy_loop(const float* from, float* to, int64_t count);
}  // namespace avx2
namespace avx512 {
float multiply_add_loop(int rounds);
float read_loop(const float* from, int64_t count);
void copy_loop(const float* from, float* to, int64_t count);
}  // namespace avx512
inline constexpr int multiply_adds_per_round = 12;  // vectors

}  // namespace headway
