#include <algorithm>
#include <cmath>
#include <span>

#include "ops/doubles.h"
#include "ops/op.h"

namespace headway {
namespace {

void infer_det(InferContext& context) {
    const Shape& shape = context.shape(0);
    if (shape.rank() < 2 || shape.back() != shape[shape.rank() - 2])
        throw UserError("its input of " + shape.text() + " holds no square matrices");
    context.set_output(0, context.type(0), Shape(std::vector<int64_t>(shape.begin(), shape.end() - 2)));
}

// Gaussian elimination in place with the largest pivot of each column; a NaN is taken at once, so that it shows.
double determinant(std::span<double> matrix, size_t size) {
    double product = 1;
    for (size_t k = 0; k < size; ++k) {
        size_t pivot = k;
        for (size_t i = k + 1; i < size; ++i)
            if (!(std::fabs(matrix[i * size + k]) <= std::fabs(matrix[pivot * size + k]))) pivot = i;
        if (matrix[pivot * size + k] == 0) return 0;
        if (pivot != k) {
            std::swap_ranges(&matrix[k * size], &matrix[k * size] + size, &matrix[pivot * size]);
            product = -product;
        }
        product *= matrix[k * size + k];
        for (size_t i = k + 1; i < size; ++i) {
            const double factor = matrix[i * size + k] / matrix[k * size + k];
            for (size_t j = k + 1; j < size; ++j) matrix[i * size + j] -= factor * matrix[k * size + j];
        }
    }
    return product;
}

void det_reference(const ReferenceContext& context) {
    const auto size = static_cast<size_t>(context.in(0).shape().back());
    std::vector<double> matrices = doubles_of(context.in(0));
    std::vector<double> results = zeros(context.out(0).elements());
    for (size_t i = 0; i < results.size(); ++i)
        results[i] = determinant(std::span(matrices).subspan(i * size * size, size * size), size);
    store_doubles(results, context.out(0));
}

}  // namespace

const Op det_op{{
    .name = "Det",
    .since = {11, 22},
    .types = float_types,
    .infer = infer_det,
    .reference = det_reference,
    .help = "Determinant of each square matrix.",
}};

}  // namespace headway
