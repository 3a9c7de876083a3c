// Matrix products in double for the references of MatMul, Gemm, the convolutions and the recurrent operators: blocked
// for the cache, with an accumulation order that depends on the shape alone.
#pragma once

#include <cstdint>

namespace headway {

// c = a * b with row-major a (rows x inner), b (inner x columns), c (rows x columns).
void multiply(const double* a, const double* b, double* c, int64_t rows, int64_t columns, int64_t inner);

}  // namespace headway
