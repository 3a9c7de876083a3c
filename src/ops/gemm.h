// Gemm's shapes and arithmetic, for its kin with activations and quantised operands.
#pragma once

#include <vector>

#include "ops/op.h"

namespace headway {

struct GemmShapes {
    int64_t rows, columns, inner;
    bool transposed_a, transposed_b;

    // By the attributes transA and transB; UserError unless they are matrices that can be multiplied.
    static GemmShapes of(const Attributes& attributes, const Shape& a, const Shape& b);
    Shape output() const { return {rows, columns}; }
    // UserError when C does not broadcast to the output.
    void require_fitting_c(const Shape& c) const;
};

// a * b with both as they are stored.
std::vector<double> multiply_gemm(const GemmShapes& shapes, std::vector<double> a, std::vector<double> b);

// Adds factor * C to a product of these shapes.
void add_gemm_c(const GemmShapes& shapes, const Tensor& c, double factor, std::vector<double>& y);

// Output 0 by the attributes and inputs A, B and C.
void infer_gemm(InferContext& context);

// alpha * A * B + beta * C by the attributes and inputs.
std::vector<double> gemm(const ReferenceContext& context);

std::vector<AttributeDoc> gemm_attributes();

}  // namespace headway
