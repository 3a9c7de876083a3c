#include <functional>
#include <cmath>
#include <limits>

#include "ops/doubles.h"
#include "ops/first_forms.h"
#include "ops/op.h"

namespace headway {
namespace {

void infer_global_pool(InferContext& context) {
    Shape shape = context.shape(0);
    if (shape.rank() < 3) throw UserError("its input has rank " + std::to_string(shape.rank()) + ", less than 3");
    for (size_t axis = 2; axis < shape.rank(); ++axis) shape[axis] = 1;
    context.set_output(0, context.type(0), shape);
}

// y = finish(step(...step(start, x0)...), elements) over each plane.
template <class Step, class Finish>
void pool_planes(const ReferenceContext& context, double start, Step step, Finish finish) {
    const Shape& shape = context.in(0).shape();
    const auto plane = static_cast<size_t>(shape.elements(2, shape.rank()));
    const std::vector<double> x = doubles_of(context.in(0));
    std::vector<double> y(static_cast<size_t>(context.out(0).elements()), start);
    for (size_t i = 0; i < x.size(); ++i) y[i / plane] = step(y[i / plane], x[i]);
    for (double& value : y) value = finish(value, static_cast<double>(plane));
    store_doubles(y, context.out(0));
}

void global_average_pool_reference(const ReferenceContext& context) {
    pool_planes(context, 0, std::plus{}, [](double sum, double count) { return sum / count; });
}

void global_max_pool_reference(const ReferenceContext& context) {
    pool_planes(
        context, -std::numeric_limits<double>::infinity(),
        [](double best, double x) { return x > best || std::isnan(x) ? x : best; },
        [](double best, double) { return best; });
}

void global_lp_pool_reference(const ReferenceContext& context) {
    const auto p = norm_exponent(context.attributes, context.version);
    pool_planes(
        context, 0, [p](double sum, double x) { return sum + std::pow(std::fabs(x), p); },
        [p](double sum, double) { return std::pow(sum, 1 / p); });
}

}  // namespace

const Op global_average_pool_op{{
    .name = "GlobalAveragePool",
    .since = {1, 22},
    .types = float_types,
    .infer = infer_global_pool,
    .reference = global_average_pool_reference,
    .help = "Mean of each channel of each image.",
}};

const Op global_max_pool_op{{
    .name = "GlobalMaxPool",
    .since = {1, 22},
    .types = float_types,
    .infer = infer_global_pool,
    .reference = global_max_pool_reference,
    .help = "Largest element of each channel of each image; NaN wins.",
}};

const Op global_lp_pool_op{{
    .name = "GlobalLpPool",
    .since = {1, 2, 22},
    .types = float_types,
    .attributes = {{"p", "int", "2", "exponent of the norm"}},
    .infer = infer_global_pool,
    .reference = global_lp_pool_reference,
    .help = "p-norm of each channel of each image.",
}};

}  // namespace headway
