// Products of 8-bit integers less their zero points, with their scales. Doubles hold every sum of them exactly, so the
// references of MatMul and Conv compute them.
#pragma once

#include <vector>

#include "ops/matmul.h"
#include "ops/op.h"

namespace headway {

// A tensor and where its zero point and scale stand among the inputs.
struct QuantizedPlace {
    size_t values;
    size_t zero;
    size_t scale = 0;  // 0: integers without scale
};

// UserError or Unsupported unless the values are 8-bit integers whose zero point and scale are one value or one for
// each of `lines`.
void check_quantized(const InferContext& context, const QuantizedPlace& place, int64_t lines);

// `lines` values from an input with one or as many; zeros where it is absent.
std::vector<double> per_line(const ReferenceContext& context, size_t input, int64_t lines);

// The values less the zero point of their line; element i lies on line i / inner % lines.
std::vector<double> without_zero(const ReferenceContext& context, const QuantizedPlace& place, int64_t lines,
                                 int64_t inner);

// The product of a (zero points and scales by row) and b (by column), multiplied by both scales.
std::vector<double> scaled_quantized_matmul(const ReferenceContext& context, const MatmulShapes& shapes,
                                            const QuantizedPlace& a, const QuantizedPlace& b);

}  // namespace headway
