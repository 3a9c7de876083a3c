// The loops of DynamicQuantizeLinear for one instruction set.
#pragma once

#include <cstdint>

namespace headway {

struct QuantizeOps {
    // Smallest and largest of 0 and n values; NaN counts for nothing.
    void (*range)(const float* x, int64_t n, float* low, float* high);
    // round(x / scale) to nearest even + zero, within 0 and 255; NaN is 0.
    void (*quantize)(const float* x, int64_t n, float scale, float zero, uint8_t* y);
};

namespace baseline {
extern const QuantizeOps quantize_ops;
}
namespace avx2 {
extern const QuantizeOps quantize_ops;
}

}  // namespace headway
