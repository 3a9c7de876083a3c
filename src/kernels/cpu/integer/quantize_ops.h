// The loops of QuantizeLinear, DequantizeLinear and DynamicQuantizeLinear for one instruction set.
#pragma once

#include <cstdint>

#include "kernels/target.h"

namespace headway {

// Scale and zero point of a run: one of each, or (each) one for every element.
struct QuantizeScales {
    const float* scale;
    const float* zero;
    bool each;
};

// round(a * a_scale + b * b_scale + shift) to nearest even + zero, within low and low + 255.
struct QuantizedSum {
    float a_scale, b_scale, shift, zero, low;
};

struct QuantizeOps {
    // Smallest and largest of 0 and n values; NaN counts for nothing.
    void (*range)(const float* x, int64_t n, float* low, float* high);
    // round(x / scale) to nearest even + zero, within low and low + 255, as the lowest byte; NaN is 0.
    void (*quantize)(const float* x, int64_t n, const QuantizeScales& scales, float low, uint8_t* y);
    // (x - zero) * scale
    void (*dequantize_u8)(const uint8_t* x, int64_t n, const QuantizeScales& scales, float* y);
    void (*dequantize_i8)(const uint8_t* x, int64_t n, const QuantizeScales& scales, float* y);
    void (*dequantize_u16)(const uint8_t* x, int64_t n, const QuantizeScales& scales, float* y);
    void (*dequantize_i16)(const uint8_t* x, int64_t n, const QuantizeScales& scales, float* y);
    void (*dequantize_i32)(const uint8_t* x, int64_t n, const QuantizeScales& scales, float* y);
    void (*add_u8)(const uint8_t* a, const uint8_t* b, int64_t n, const QuantizedSum& sum, uint8_t* y);
    void (*add_i8)(const uint8_t* a, const uint8_t* b, int64_t n, const QuantizedSum& sum, uint8_t* y);
};

namespace baseline {
extern const QuantizeOps quantize_ops;
}
namespace avx2 {
extern const QuantizeOps quantize_ops;
}
namespace avx512 {
extern const QuantizeOps quantize_ops;
}
namespace emulated512 {
extern const QuantizeOps quantize_ops;
}

}  // namespace headway
