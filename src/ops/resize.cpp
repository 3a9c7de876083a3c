#include <algorithm>
#include <array>
#include <cmath>

#include "base/checked.h"
#include "base/limits.h"
#include "ops/arguments.h"
#include "ops/doubles.h"
#include "ops/first_forms.h"
#include "ops/resize_axis.h"
#include "ops/rows.h"

namespace headway {
namespace {

// Operands of all the versions, in one form.
struct ResizeOperands {
    std::vector<double> roi, scales;
    std::vector<int64_t> sizes;
    std::vector<int64_t> axes;
};

std::vector<double> numbers_of(const Tensor* tensor) {
    return tensor == nullptr ? std::vector<double>{} : doubles_of(*tensor);
}

// operand(i) gives input i or nullptr.
template <class Operand>
ResizeOperands resize_operands(const Attributes& attributes, int version, size_t rank, Operand&& operand) {
    ResizeOperands operands;
    if (version < 7) {
        for (float scale : first_upsample_scales(attributes, rank)) operands.scales.push_back(scale);
    } else if (version < 11) {
        operands.scales = numbers_of(operand(1));
        if (operands.scales.empty())
            for (float scale : attributes.reals("scales")) operands.scales.push_back(scale);
    } else {
        operands.roi = numbers_of(operand(1));
        operands.scales = numbers_of(operand(2));
        if (const Tensor* sizes = operand(3)) operands.sizes = sizes->to_int64();
    }
    for (size_t axis = 0; axis < rank; ++axis) operands.axes.push_back(static_cast<int64_t>(axis));
    if (attributes.has("axes")) operands.axes = normalized_axes(attributes.integers("axes"), rank);
    if (operands.scales.empty() == operands.sizes.empty()) throw UserError("needs scales or sizes, not both");
    return operands;
}

// With an aspect-ratio policy, one scale for all axes.
double common_scale(const std::string& policy, const std::vector<ResizedAxis>& axes,
                    const std::vector<int64_t>& which) {
    if (policy != "not_larger" && policy != "not_smaller")
        throw UserError("attribute keep_aspect_ratio_policy has an unknown value");
    std::vector<double> scales;
    for (int64_t axis : which) scales.push_back(axes[static_cast<size_t>(axis)].scale);
    if (scales.empty()) return 1;
    return policy == "not_larger" ? *std::min_element(scales.begin(), scales.end())
                                  : *std::max_element(scales.begin(), scales.end());
}

int64_t whole_extent(double extent) {
    constexpr double limit = 1e12;  // far beyond any tensor
    if (!(extent >= 0 && extent < limit)) throw UserError("its scales are out of range");
    return static_cast<int64_t>(extent);
}

std::vector<ResizedAxis> resized_axes(const Attributes& attributes, const Shape& shape,
                                      const ResizeOperands& operands) {
    std::vector<ResizedAxis> axes;
    for (int64_t extent : shape) axes.push_back({extent, extent});
    const size_t count = operands.axes.size();
    if (!operands.scales.empty() && operands.scales.size() != count)
        throw UserError("scales does not have one entry per axis");
    if (!operands.sizes.empty()) require_length(operands.sizes, count, "sizes");
    const bool crops = attributes.text("coordinate_transformation_mode", "half_pixel") == "tf_crop_and_resize";
    if (crops && operands.roi.size() != 2 * count) throw UserError("roi does not have two entries per axis");
    for (size_t i = 0; i < count; ++i) {
        ResizedAxis& axis = axes[static_cast<size_t>(operands.axes[i])];
        if (operands.sizes.empty()) {
            axis.scale = operands.scales[i];
            if (!(axis.scale > 0)) throw UserError("a scale is not positive");
            axis.out = whole_extent(static_cast<double>(axis.in) * axis.scale);
        } else {
            axis.out = whole_extent(static_cast<double>(operands.sizes[i]));
            axis.scale = axis.in == 0 ? 1 : static_cast<double>(axis.out) / static_cast<double>(axis.in);
        }
        if (axis.in == 0 && axis.out != 0) throw UserError("an empty axis cannot grow");
        if (crops) {
            axis.roi_begin = operands.roi[i];
            axis.roi_end = operands.roi[count + i];
        }
    }
    const std::string policy = attributes.text("keep_aspect_ratio_policy", "stretch");
    if (!operands.sizes.empty() && policy != "stretch") {
        const double scale = common_scale(policy, axes, operands.axes);
        for (int64_t which : operands.axes) {
            ResizedAxis& axis = axes[static_cast<size_t>(which)];
            axis.scale = scale;
            axis.out = whole_extent(scale * static_cast<double>(axis.in) + 0.5);
        }
    }
    return axes;
}

void infer_resize(InferContext& context) {
    const Shape& shape = context.shape(0);
    ResizeRule::of(context.attributes(), context.version());
    const ResizeOperands operands =
        resize_operands(context.attributes(), context.version(), shape.rank(), [&](size_t i) {
            return context.has(i) ? &context.required(i, i == 1 && context.version() > 10 ? "roi" : "scales or sizes")
                                  : nullptr;
        });
    std::vector<int64_t> dims;
    for (const ResizedAxis& axis : resized_axes(context.attributes(), shape, operands)) dims.push_back(axis.out);
    context.set_output(0, context.type(0), Shape(std::move(dims)));
}

std::vector<double> resize_along(const std::vector<double>& x, const Lines& lines, const ResizedAxis& axis,
                                 const ResizeRule& rule) {
    // between two axes there may be more values than in the input and in the output
    const int64_t count = checked_product(std::array{lines.outer, axis.out, lines.inner}, "a resized axis");
    static_cast<void>(MemoryClaim(checked_mul(count, sizeof(double), "a resized axis")));
    std::vector<double> y = zeros(count);
    for (int64_t at = 0; at < axis.out; ++at) {
        const std::vector<Tap> taps = resize_taps(axis, rule, at);
        for (int64_t outer = 0; outer < lines.outer; ++outer) {
            double* to = y.data() + (outer * axis.out + at) * lines.inner;
            if (taps.empty()) std::fill_n(to, lines.inner, rule.extrapolation);
            for (const Tap& tap : taps) {
                const double* from = x.data() + (outer * axis.in + tap.index) * lines.inner;
                for (int64_t i = 0; i < lines.inner; ++i) to[i] += tap.weight * from[i];
            }
        }
    }
    return y;
}

void resize_reference(const ReferenceContext& context) {
    if (context.out(0).elements() == 0) return;
    Shape shape = context.in(0).shape();
    const ResizeRule rule = ResizeRule::of(context.attributes, context.version);
    const ResizeOperands operands = resize_operands(context.attributes, context.version, shape.rank(), [&](size_t i) {
        return context.has(i) ? &context.in(i) : nullptr;
    });
    const std::vector<ResizedAxis> axes = resized_axes(context.attributes, shape, operands);
    std::vector<double> values = doubles_of(context.in(0));
    for (size_t axis = 0; axis < axes.size(); ++axis) {
        if (!axes[axis].changes()) continue;
        values = resize_along(values, Lines::along(shape, axis), axes[axis], rule);
        shape[axis] = axes[axis].out;
    }
    if (!is_float(context.in(0).type()))
        for (double& value : values) value = std::nearbyint(value);
    store_doubles(values, context.out(0));
}

}  // namespace

const Op resize_op{{
    .name = "Resize",
    .since = {10, 11, 13, 18, 19},
    .inputs = {1, 4},
    .types = number_types,
    .attributes = {{"antialias", "int", "0", "1: linear and cubic weights widen when shrinking (opset 18)"},
                   {"axes", "ints", "all", "the axes that roi, scales and sizes are about (opset 18)"},
                   {"coordinate_transformation_mode", "string", "half_pixel",
                    "how output positions fall on input positions"},
                   {"cubic_coeff_a", "float", "-0.75", "coefficient of the cubic weights"},
                   {"exclude_outside", "int", "0", "1: weights outside the input count as zero"},
                   {"extrapolation_value", "float", "0.0", "what stands outside the input with tf_crop_and_resize"},
                   {"keep_aspect_ratio_policy", "string", "stretch", "stretch, not_larger or not_smaller (opset 18)"},
                   {"mode", "string", "nearest", "nearest, linear or cubic"},
                   {"nearest_mode", "string", "round_prefer_floor",
                    "round_prefer_floor, round_prefer_ceil, floor or ceil"}},
    .infer = infer_resize,
    .reference = resize_reference,
    .help = "Interpolation to other extents. Integers are rounded to nearest even.",
}};

const Op upsample_op{{
    .name = "Upsample",
    .since = {1, 7, 9},
    .inputs = {1, 2},
    .types = number_types,
    .attributes = {{"height_scale", "float", "", "factor of the third of four axes (before opset 7)"},
                   {"mode", "string", "nearest", "nearest or linear (bilinear before opset 7)"},
                   {"scales", "floats", "", "factor of each axis (an input from opset 9)"},
                   {"width_scale", "float", "", "factor of the last of four axes (before opset 7)"}},
    .infer = infer_resize,
    .reference = resize_reference,
    .help = "Resize as opset 10 defines it.",
}};

}  // namespace headway
