#include "base/checked.h"
#include "ops/arguments.h"
#include "ops/doubles.h"

namespace headway {
namespace {

// Spatial extents of the grid: size without batch and channels.
std::vector<int64_t> affine_grid_extents(const Shape& theta, const std::vector<int64_t>& size) {
    if (size.size() != 4 && size.size() != 5) throw UserError("size has neither 4 nor 5 entries");
    const auto axes = static_cast<int64_t>(size.size()) - 2;
    if (theta != Shape{size[0], axes, axes + 1})
        throw UserError("theta of " + theta.text() + " does not fit a grid of " + std::to_string(axes) + " axes");
    return {size.begin() + 2, size.end()};
}

void infer_affine_grid(InferContext& context) {
    const std::vector<int64_t> size = context.required_integers(1, "size");
    std::vector<int64_t> dims = affine_grid_extents(context.shape(0), size);
    const auto axes = static_cast<int64_t>(dims.size());
    dims.insert(dims.begin(), size[0]);
    dims.push_back(axes);
    context.set_output(0, context.type(0), Shape(std::move(dims)));
}

// Positions from -1 to 1: centres of the outermost elements, or their outer edges. A single element has its centre
// in the middle.
double affine_position(int64_t index, int64_t extent, bool align_corners) {
    const auto i = static_cast<double>(index);
    const auto count = static_cast<double>(extent);
    if (!align_corners) return (2 * i + 1) / count - 1;
    return extent == 1 ? 0 : 2 * i / (count - 1) - 1;
}

void affine_grid_reference(const ReferenceContext& context) {
    const std::vector<int64_t> extents = affine_grid_extents(context.in(0).shape(), context.in(1).to_int64());
    const bool align_corners = context.attributes.integer("align_corners", 0) != 0;
    const size_t axes = extents.size();
    const int64_t points = checked_product(extents, "its grid");
    const std::vector<double> theta = doubles_of(context.in(0));
    std::vector<double> y;
    y.reserve(static_cast<size_t>(context.out(0).elements()));
    std::vector<double> position(axes + 1, 1);  // innermost axis first, then the 1 of homogeneous coordinates
    for (int64_t image = 0; image < context.in(0).shape()[0]; ++image)
        for (int64_t point = 0; point < points; ++point) {
            int64_t rest = point;
            for (size_t i = 0; i < axes; ++i) {
                const int64_t extent = extents[axes - 1 - i];
                position[i] = affine_position(rest % extent, extent, align_corners);
                rest /= extent;
            }
            for (size_t row = 0; row < axes; ++row) {
                const double* factors = theta.data() + (static_cast<size_t>(image) * axes + row) * (axes + 1);
                double sum = 0;
                for (size_t i = 0; i <= axes; ++i) sum += factors[i] * position[i];
                y.push_back(sum);
            }
        }
    store_doubles(y, context.out(0));
}

}  // namespace

const Op affine_grid_op{{
    .name = "AffineGrid",
    .since = {20},
    .inputs = {2, 2},
    .types = float_types,
    .attributes = {{"align_corners", "int", "0",
                    "1: -1 and 1 are the centres of the outermost elements, else their "
                    "outer edges"}},
    .infer = infer_affine_grid,
    .reference = affine_grid_reference,
    .help = "The grid for GridSample that an affine map makes of evenly spaced positions.",
}};

}  // namespace headway
