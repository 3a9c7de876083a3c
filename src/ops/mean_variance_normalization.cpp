#include <algorithm>
#include <cmath>

#include "ops/doubles.h"
#include "ops/elementwise.h"
#include "ops/reduce.h"

namespace headway {
namespace {

std::vector<bool> mvn_axes(const Attributes& attributes, size_t rank) {
    return axis_flags(normalized_axes(attributes.integers("axes", {0, 2, 3}), rank), rank);
}

void infer_mvn(InferContext& context) {
    mvn_axes(context.attributes(), context.shape(0).rank());
    infer_same(context);
}

void mvn_reference(const ReferenceContext& context) {
    const Shape& shape = context.in(0).shape();
    const std::vector<bool> axes = mvn_axes(context.attributes, shape.rank());
    std::vector<double> x = doubles_of(context.in(0));
    Shape kept = shape;
    for (size_t axis = 0; axis < shape.rank(); ++axis)
        if (axes[axis]) kept[axis] = 1;
    std::vector<double> sums = zeros(kept.elements());
    std::vector<double> squares = sums;
    const double count = static_cast<double>(x.size()) / static_cast<double>(std::max<size_t>(sums.size(), 1));
    const StridedLoop<2> loop(shape, {shape.strides(), reduced_strides(shape, axes)});
    // visit(element, the sums it belongs to) for all elements.
    const auto for_each = [&](auto&& visit) {
        loop.for_each_row([&](const auto& offsets, int64_t row, const auto& steps) {
            for (int64_t i = 0; i < row; ++i)
                visit(x[static_cast<size_t>(offsets[0] + i * steps[0])],
                      static_cast<size_t>(offsets[1] + i * steps[1]));
        });
    };
    for_each([&](double& value, size_t k) { sums[k] += value; });
    for_each([&](double& value, size_t k) {
        value -= sums[k] / count;
        squares[k] += value * value;
    });
    // ONNX writes this operator out as a function, with this constant.
    constexpr double epsilon = 1e-9;
    for_each([&](double& value, size_t k) { value /= std::sqrt(squares[k] / count) + epsilon; });
    store_doubles(x, context.out(0));
}

}  // namespace

const Op mean_variance_normalization_op{{
    .name = "MeanVarianceNormalization",
    .since = {9, 13},
    .types = float_types,
    .attributes = {{"axes", "ints", "0, 2, 3", "axes that are normalised together"}},
    .infer = infer_mvn,
    .reference = mvn_reference,
    .help = "Brought to mean 0 and variance 1 over some axes.",
}};

}  // namespace headway
