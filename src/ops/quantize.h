// Scales and zero points: one for the whole tensor, one for each position on an axis, or one for each block on it.
#pragma once

#include <span>
#include <vector>

#include "ops/op.h"

namespace headway {

// Position in the scale tensor for each element of the input.
struct ScaleMap {
    int64_t inner = 1, extent = 1, entries = 1, block = 1;
    bool blocked = false;

    // UserError when the scale's shape fits none of the three ways.
    static ScaleMap of(const Attributes& attributes, const Shape& x, const Shape& scale);
    int64_t at(int64_t element) const {
        const int64_t position = element / inner % extent / block;
        if (!blocked) return entries == 1 ? 0 : position;
        return (element / (inner * extent) * entries + position) * inner + element % inner;
    }
};

// Range of an integer type of 16 bits or fewer.
struct IntegerRange {
    double low, high;
};
IntegerRange integer_range(ElementType type);

// Rounded to nearest even before the zero point is added, then saturated. The quotient is rounded as f32 first, which
// is what it is computed in elsewhere: in double, ties would fall otherwise.
double saturated(double quotient, double zero, const IntegerRange& range);

// One scale and zero point of a whole tensor, among the inputs of ONNX Runtime's operators on 8-bit integers. An absent
// zero point is 0.
struct LinearScale {
    double scale = 1, zero = 0;

    // UserError unless the scale is one f32 and the zero point one integer of the type.
    static void check(const InferContext& context, ElementType type, size_t scale_input, size_t zero_input);
    static LinearScale of(const ReferenceContext& context, size_t scale_input, size_t zero_input);
    // The numbers that 8-bit integers stand for.
    std::vector<double> dequantized(const Tensor& tensor) const;
    void store(const std::vector<double>& values, Tensor& tensor) const;
};

// How DynamicQuantizeLinear sees values: as u8 with the scale and zero point that their range, with 0, needs.
struct DynamicRange {
    float scale = 1;
    double zero = 0;

    static DynamicRange of(std::span<const double> values);
    // Within 0 and 255.
    double quantized(double value) const;
};

}  // namespace headway
