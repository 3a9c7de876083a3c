#include <algorithm>

#include "base/checked.h"
#include "ops/arguments.h"
#include "ops/doubles.h"
#include "ops/elementwise.h"
#include "ops/product.h"
#include "ops/window.h"

namespace headway {
namespace {

// A window with the roles swapped: `in` and `out` are those of the operator, taps scatter to position(i, k).
Window spread_axis(const Attributes& attributes, Window window, size_t axis, size_t count) {
    const std::vector<int64_t> pads = attributes.integers("pads", std::vector<int64_t>(2 * count, 0));
    const std::vector<int64_t> extra = attributes.integers("output_padding", std::vector<int64_t>(count, 0));
    require_length(pads, 2 * count, "pads");
    require_length(extra, count, "output_padding");
    if (pads[axis] < 0 || pads[count + axis] < 0 || extra[axis] < 0)
        throw UserError("attribute pads or output_padding holds a negative number");
    const std::string mode = attributes.text("auto_pad", "NOTSET");
    const int64_t spread = checked_add(checked_mul(window.stride, window.in - 1, "output extent"),
                                       checked_add(extra[axis], window.reach(), "output extent"), "output extent");
    const bool same = mode == "SAME_UPPER" || mode == "SAME_LOWER";
    if (attributes.has("output_shape") || same) {
        std::vector<int64_t> wanted = attributes.integers("output_shape");
        // Some files give all axes, some the spatial ones.
        if (wanted.size() == count + 2) wanted.erase(wanted.begin(), wanted.begin() + 2);
        if (!wanted.empty()) require_length(wanted, count, "output_shape");
        window.out = wanted.empty() ? checked_mul(window.in, window.stride, "output extent") : wanted[axis];
        if (window.out < 1) throw UserError("attribute output_shape holds " + std::to_string(window.out));
        const int64_t total = std::max<int64_t>(spread - window.out, 0);
        window.begin = mode == "SAME_UPPER" ? total / 2 : total - total / 2;
        window.end = total - window.begin;
    } else {
        if (mode == "NOTSET") {
            window.begin = pads[axis];
            window.end = pads[count + axis];
        } else if (mode != "VALID") {
            throw UserError("attribute auto_pad has an unknown value");
        }
        window.out = spread - checked_add(window.begin, window.end, "padding");
        if (window.out < 1) throw UserError("its padding leaves no output");
    }
    return window;
}

std::vector<Window> spread_windows(const Attributes& attributes, const Shape& x, const Shape& w) {
    if (w.rank() < 3 || x.rank() != w.rank()) throw UserError("the ranks of its input and weights do not fit");
    const size_t count = w.rank() - 2;
    if (count > 3) throw Unsupported("windows over " + std::to_string(count) + " axes are not supported");
    const std::vector<int64_t> kernel(w.begin() + 2, w.end());
    if (attributes.integers("kernel_shape", kernel) != kernel) throw UserError("kernel_shape differs from its weights");
    const std::vector<int64_t> strides = positive_integers(attributes, "strides", count);
    const std::vector<int64_t> dilations = positive_integers(attributes, "dilations", count);
    std::vector<Window> windows;
    for (size_t axis = 0; axis < count; ++axis) {
        if (kernel[axis] < 1 || x[axis + 2] < 1) throw UserError("its kernel or input is empty");
        windows.push_back(
            spread_axis(attributes, {kernel[axis], strides[axis], dilations[axis], 0, 0, x[axis + 2], 0}, axis, count));
    }
    return windows;
}

void infer_conv_transpose(InferContext& context) {
    require_same_types(context);
    const Shape& x = context.shape(0);
    const Shape& w = context.shape(1);
    const std::vector<Window> windows = spread_windows(context.attributes(), x, w);
    const int64_t groups = context.attributes().integer("group", 1);
    if (groups < 1 || x[1] != w[0] || w[0] % groups != 0)
        throw UserError("weights of " + w.text() + " in " + std::to_string(groups) + " groups do not fit an input of " +
                        x.text());
    const int64_t channels = checked_mul(w[1], groups, "channels");
    if (context.has(2) && context.shape(2) != Shape{channels})
        throw UserError("its bias does not have one entry per output channel");
    std::vector<int64_t> dims{x[0], channels};
    for (const Window& window : windows) dims.push_back(window.out);
    context.set_output(0, context.type(0), Shape(std::move(dims)));
}

// Adds one tap's products (one per input position) to where they fall in the output plane.
void scatter_tap(const double* products, double* plane, const std::vector<Window>& windows, int64_t tap) {
    const int64_t taps[3] = {tap / (windows[1].kernel * windows[2].kernel), tap / windows[2].kernel % windows[1].kernel,
                             tap % windows[2].kernel};
    for (int64_t z = 0; z < windows[0].in; ++z) {
        const int64_t to_z = windows[0].position(z, taps[0]);
        for (int64_t y = 0; y < windows[1].in; ++y) {
            const int64_t to_y = windows[1].position(y, taps[1]);
            const bool inside = to_z >= 0 && to_z < windows[0].out && to_y >= 0 && to_y < windows[1].out;
            for (int64_t x = 0; x < windows[2].in; ++x, ++products) {
                const int64_t to_x = windows[2].position(x, taps[2]);
                if (inside && to_x >= 0 && to_x < windows[2].out)
                    plane[(to_z * windows[1].out + to_y) * windows[2].out + to_x] += *products;
            }
        }
    }
}

void conv_transpose_reference(const ReferenceContext& context) {
    const Shape& xs = context.in(0).shape();
    const Shape& ws = context.in(1).shape();
    const std::vector<Window> windows = three_axes(spread_windows(context.attributes, xs, ws));
    const int64_t groups = context.attributes.integer("group", 1);
    const int64_t in_channels = ws[0] / groups;
    const int64_t out_channels = ws[1];
    const int64_t taps = ws.elements(2, ws.rank());
    const int64_t in_plane = xs.elements(2, xs.rank());
    const int64_t out_plane = windows[0].out * windows[1].out * windows[2].out;
    const std::vector<double> x = doubles_of(context.in(0));
    const std::vector<double> w = doubles_of(context.in(1));
    const std::vector<double> bias = context.has(2) ? doubles_of(context.in(2)) : std::vector<double>{};
    std::vector<double> y = zeros(context.out(0).elements());
    std::vector<double> row = zeros(in_channels);
    std::vector<double> products = zeros(in_plane);
    for (int64_t image = 0; image < xs[0]; ++image) {
        for (int64_t channel = 0; channel < groups * out_channels; ++channel) {
            const int64_t group = channel / out_channels;
            double* plane = y.data() + (image * groups * out_channels + channel) * out_plane;
            if (!bias.empty()) std::fill_n(plane, out_plane, bias[static_cast<size_t>(channel)]);
            for (int64_t tap = 0; tap < taps; ++tap) {
                for (int64_t i = 0; i < in_channels; ++i)
                    row[static_cast<size_t>(i)] = w[static_cast<size_t>(
                        ((group * in_channels + i) * out_channels + channel % out_channels) * taps + tap)];
                multiply(row.data(), x.data() + (image * groups + group) * in_channels * in_plane, products.data(), 1,
                         in_plane, in_channels);
                scatter_tap(products.data(), plane, windows, tap);
            }
        }
    }
    store_doubles(y, context.out(0));
}

}  // namespace

const Op conv_transpose_op{{
    .name = "ConvTranspose",
    .since = {1, 11, 22},
    .inputs = {2, 3},
    .types = float_types,
    .attributes = {{"auto_pad", "string", "NOTSET", "NOTSET, SAME_UPPER, SAME_LOWER or VALID"},
                   {"dilations", "ints", "1", "distance of taps, per axis"},
                   {"group", "int", "1", "groups of channels that do not see each other"},
                   {"kernel_shape", "ints", "from the weights", "extents of the kernel"},
                   {"output_padding", "ints", "0", "extents added to the end of the output"},
                   {"output_shape", "ints", "", "spatial extents of the output, from which the padding follows"},
                   {"pads", "ints", "0", "what is cut from the begin of each axis, then from the end"},
                   {"strides", "ints", "1", "distance of windows, per axis"}},
    .infer = infer_conv_transpose,
    .reference = conv_transpose_reference,
    .help = "Transposed convolution over one to three axes.",
}};

}  // namespace headway
