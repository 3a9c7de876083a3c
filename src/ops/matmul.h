// What MatMul and its kin on quantised integers share: the shapes of stacked matrices, and their products in double.
#pragma once

#include <vector>

#include "tensor/shape.h"

namespace headway {

// Both operands as stacks of matrices; a vector is one row on the left and one column on the right.
struct MatmulShapes {
    Shape a, b, batch;
    int64_t rows, columns, inner;
    bool left_vector, right_vector;  // their rows or columns are no axis of the output

    Shape output() const;
};

// UserError when the operands cannot be multiplied.
MatmulShapes matmul_shapes(Shape a, Shape b);

// The products of the matrices, batch by batch.
std::vector<double> multiply_matrices(const MatmulShapes& shapes, const std::vector<double>& a,
                                      const std::vector<double>& b);

}  // namespace headway
