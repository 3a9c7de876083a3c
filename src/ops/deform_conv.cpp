#include <algorithm>
#include <cmath>

#include "ops/arguments.h"
#include "ops/conv.h"
#include "ops/doubles.h"
#include "ops/elementwise.h"
#include "ops/product.h"

namespace headway {
namespace {

void infer_deform_conv(InferContext& context) {
    require_same_types(context);
    const Shape& x = context.shape(0);
    const Shape& w = context.shape(1);
    if (x.rank() != 4) throw Unsupported("an input of " + x.text() + " is not handled (two spatial axes are)");
    const Shape y = conv_shape(context.attributes(), x, w);
    const int64_t groups = context.attributes().integer("offset_group", 1);
    if (groups < 1 || groups > x[1] || x[1] % groups != 0)
        throw UserError(std::to_string(groups) + " groups of offsets do not fit an input of " + x.text());
    const int64_t taps = groups * w[2] * w[3];
    if (context.shape(2) != Shape{x[0], 2 * taps, y[2], y[3]})
        throw UserError("offsets of " + context.shape(2).text() + " do not fit an output of " + y.text());
    if (context.has(3) && context.shape(3) != Shape{w[0]})
        throw UserError("its bias does not have one entry per output channel");
    if (context.has(4) && context.shape(4) != Shape{x[0], taps, y[2], y[3]})
        throw UserError("a mask of " + context.shape(4).text() + " does not fit an output of " + y.text());
    context.set_output(0, context.type(0), y);
}

// Linear interpolation in a plane with zeros around it.
double deformed_sample(const double* plane, int64_t height, int64_t width, double y, double x) {
    if (!(y > -1 && y < static_cast<double>(height) && x > -1 && x < static_cast<double>(width)))
        return std::isnan(y) || std::isnan(x) ? y + x : 0;
    const auto top = static_cast<int64_t>(std::floor(y));
    const auto left = static_cast<int64_t>(std::floor(x));
    double sum = 0;
    for (int64_t row = top; row < top + 2; ++row)
        for (int64_t column = left; column < left + 2; ++column) {
            if (row < 0 || row >= height || column < 0 || column >= width) continue;
            const double weight =
                (1 - std::fabs(y - static_cast<double>(row))) * (1 - std::fabs(x - static_cast<double>(column)));
            sum += weight * plane[row * width + column];
        }
    return sum;
}

// What the taps of one image read, as rows of channels and taps for a column of each output position, to be multiplied
// by the weights.
std::vector<double> deformed_columns(const ReferenceContext& context, const std::vector<Window>& windows,
                                     const double* x, const double* offsets, const double* mask) {
    const Shape& shape = context.in(0).shape();
    const int64_t channels_per_group = shape[1] / context.attributes.integer("offset_group", 1);
    const int64_t taps = windows[0].kernel * windows[1].kernel;
    const int64_t positions = windows[0].out * windows[1].out;
    std::vector<double> columns;
    columns.reserve(static_cast<size_t>(shape[1] * taps * positions));
    for (int64_t channel = 0; channel < shape[1]; ++channel)
        for (int64_t tap = 0; tap < taps; ++tap) {
            const int64_t row = channel / channels_per_group * taps + tap;
            for (int64_t i = 0; i < positions; ++i) {
                const int64_t at_y = windows[0].position(i / windows[1].out, tap / windows[1].kernel);
                const int64_t at_x = windows[1].position(i % windows[1].out, tap % windows[1].kernel);
                const double value =
                    deformed_sample(x + channel * shape[2] * shape[3], shape[2], shape[3],
                                    static_cast<double>(at_y) + offsets[2 * row * positions + i],
                                    static_cast<double>(at_x) + offsets[(2 * row + 1) * positions + i]);
                columns.push_back(mask == nullptr ? value : value * mask[row * positions + i]);
            }
        }
    return columns;
}

void deform_conv_reference(const ReferenceContext& context) {
    if (context.out(0).elements() == 0) return;
    const Shape& shape = context.in(0).shape();
    const Shape& weights = context.in(1).shape();
    const std::vector<Window> windows = conv_windows(context.attributes, shape, weights);
    const int64_t groups = context.attributes.integer("group", 1);
    const int64_t inner = weights.elements(1, 4);
    const int64_t rows = weights[0] / groups;
    const int64_t positions = windows[0].out * windows[1].out;
    const std::vector<double> x = doubles_of(context.in(0));
    const std::vector<double> w = doubles_of(context.in(1));
    const std::vector<double> offsets = doubles_of(context.in(2));
    const std::vector<double> bias = context.has(3) ? doubles_of(context.in(3)) : std::vector<double>{};
    const std::vector<double> mask = context.has(4) ? doubles_of(context.in(4)) : std::vector<double>{};
    std::vector<double> y = zeros(context.out(0).elements());
    for (int64_t image = 0; image < shape[0]; ++image) {
        const std::vector<double> columns =
            deformed_columns(context, windows, x.data() + image * shape.elements(1, 4),
                             offsets.data() + image * context.in(2).shape().elements(1, 4),
                             mask.empty() ? nullptr : mask.data() + image * context.in(4).shape().elements(1, 4));
        for (int64_t group = 0; group < groups; ++group)
            multiply(w.data() + group * rows * inner, columns.data() + group * inner * positions,
                     y.data() + (image * groups + group) * rows * positions, rows, positions, inner);
    }
    if (!bias.empty())
        for (size_t i = 0; i < y.size(); ++i)
            y[i] += bias[static_cast<size_t>(static_cast<int64_t>(i) / positions % weights[0])];
    store_doubles(y, context.out(0));
}

}  // namespace

const Op deform_conv_op{{
    .name = "DeformConv",
    .since = {19, 22},
    .inputs = {3, 5},
    .types = float_types,
    .attributes = {{"dilations", "ints", "1", "distance of taps, per axis"},
                   {"group", "int", "1", "groups of channels that do not see each other"},
                   {"kernel_shape", "ints", "from the weights", "extents of the kernel"},
                   {"offset_group", "int", "1", "groups of channels with offsets of their own"},
                   {"pads", "ints", "0", "padding at the begin of each axis, then at the end"},
                   {"strides", "ints", "1", "distance of windows, per axis"}},
    .infer = infer_deform_conv,
    .reference = deform_conv_reference,
    .help = "Convolution over two axes whose taps are moved by offsets, interpolated linearly with zeros outside, and "
            "multiplied by a mask.",
}};

}  // namespace headway
