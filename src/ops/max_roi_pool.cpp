#include <algorithm>
#include <cmath>

#include "ops/arguments.h"
#include "ops/doubles.h"

namespace headway {
namespace {

struct MaxRoiRule {
    int64_t height = 1, width = 1;  // of the output
    double scale = 1;

    static MaxRoiRule of(const Attributes& attributes);
};

MaxRoiRule MaxRoiRule::of(const Attributes& attributes) {
    const std::vector<int64_t> pooled = attributes.integers("pooled_shape");
    require_length(pooled, 2, "pooled_shape");
    if (pooled[0] < 1 || pooled[1] < 1) throw UserError("pooled_shape is not positive");
    return {pooled[0], pooled[1], attributes.real("spatial_scale", 1)};
}

void infer_max_roi_pool(InferContext& context) {
    const Shape& x = context.shape(0);
    const Shape& rois = context.shape(1);
    const MaxRoiRule rule = MaxRoiRule::of(context.attributes());
    if (context.type(1) != context.type(0)) throw UserError("its input and regions differ in type");
    if (x.rank() != 4 || rois.rank() != 2 || rois[1] != 5)
        throw UserError("regions of " + rois.text() + " do not fit an input of " + x.text());
    context.set_output(0, context.type(0), Shape{rois[0], x[1], rule.height, rule.width});
}

struct RoiBin {
    int64_t first, last;
};

// The part of an axis of `extent` elements that lies in bin `at` of a region, whose corners are elements of their own.
RoiBin roi_bin(double from, double to, double scale, int64_t bins, int64_t at, int64_t extent) {
    constexpr double limit = 1e15;  // whole numbers below it are exact
    const double start = std::round(from * scale), end = std::round(to * scale);
    if (!(std::fabs(start) < limit) || !(std::fabs(end) < limit)) throw UserError("a region is out of range");
    // As f32, in which everybody computes it: in double, a bin's end would reach one element further or less.
    const auto size = static_cast<float>(std::max(end - start + 1, 1.0)) / static_cast<float>(bins);
    const auto inside = [&](double position) {
        return static_cast<int64_t>(std::clamp(position + start, 0.0, static_cast<double>(extent)));
    };
    return {inside(std::floor(static_cast<float>(at) * size)), inside(std::ceil(static_cast<float>(at + 1) * size))};
}

// A bin without elements gives 0.
double largest_in(const double* plane, int64_t width, RoiBin rows, RoiBin columns) {
    if (rows.first >= rows.last || columns.first >= columns.last) return 0;
    double best = plane[rows.first * width + columns.first];
    for (int64_t row = rows.first; row < rows.last; ++row)
        for (int64_t column = columns.first; column < columns.last; ++column) {
            const double x = plane[row * width + column];
            if (x > best || std::isnan(x)) best = x;
        }
    return best;
}

void max_roi_pool_reference(const ReferenceContext& context) {
    const Shape& shape = context.in(0).shape();
    const MaxRoiRule rule = MaxRoiRule::of(context.attributes);
    const std::vector<double> x = doubles_of(context.in(0));
    const std::vector<double> rois = doubles_of(context.in(1));
    std::vector<double> y;
    y.reserve(static_cast<size_t>(context.out(0).elements()));
    for (size_t at = 0; at < rois.size(); at += 5) {
        const double* roi = rois.data() + at;
        if (!(roi[0] >= 0 && roi[0] < static_cast<double>(shape[0]))) throw UserError("a region has no image");
        const double* image = x.data() + static_cast<int64_t>(roi[0]) * shape[1] * shape[2] * shape[3];
        for (int64_t channel = 0; channel < shape[1]; ++channel)
            for (int64_t i = 0; i < rule.height; ++i) {
                const RoiBin rows = roi_bin(roi[2], roi[4], rule.scale, rule.height, i, shape[2]);
                for (int64_t j = 0; j < rule.width; ++j) {
                    const RoiBin columns = roi_bin(roi[1], roi[3], rule.scale, rule.width, j, shape[3]);
                    y.push_back(largest_in(image + channel * shape[2] * shape[3], shape[3], rows, columns));
                }
            }
    }
    store_doubles(y, context.out(0));
}

}  // namespace

const Op max_roi_pool_op{{
    .name = "MaxRoiPool",
    .since = {1, 22},
    .inputs = {2, 2},
    .types = float_types,
    .attributes = {{"pooled_shape", "ints", "", "rows and columns of the output"},
                   {"spatial_scale", "float", "1.0", "factor from coordinates of regions to elements of the input"}},
    .infer = infer_max_roi_pool,
    .reference = max_roi_pool_reference,
    .help = "Regions of the input (image, left, top, right, bottom), each pooled to one size: the largest element of "
            "each bin.",
}};

}  // namespace headway
