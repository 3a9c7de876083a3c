// Sums of the quarters of matrices, for products that trade a multiplication for additions.
#pragma once

#include <cstdint>

#include "kernels/target.h"

namespace headway {

// dst[row][column] += bias[column] + sign * product[row][column]
struct QuarterUpdate {
    const float* product;
    int64_t product_step;  // floats from one row to the next
    float* dst;
    int64_t dst_step;
    const float* bias;
    float sign;
    int64_t rows, columns;
};

struct QuarterSums {
    // out[i] = x[i] + sign * y[i]
    void (*add)(const float* x, const float* y, float sign, int64_t count, float* out);
    void (*update)(const QuarterUpdate&);
};

const QuarterSums& quarter_sums(Isa isa);

namespace baseline {
extern const QuarterSums quarter_sums;
}
namespace avx2 {
extern const QuarterSums quarter_sums;
}
namespace avx512 {
extern const QuarterSums quarter_sums;
}
namespace emulated512 {
extern const QuarterSums quarter_sums;
}

}  // namespace headway
