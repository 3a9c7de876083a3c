#include "ops/doubles.h"
#include "ops/pool.h"

namespace headway {
namespace {

// Taps along one axis that lie in the input or its padding, but not beyond (as with ceil_mode).
int64_t counted_taps(const Window& window, int64_t output) {
    const int64_t room = window.in + window.end - 1 - window.position(output, 0);
    return std::clamp(room / window.dilation + 1, int64_t{0}, window.kernel);
}

void average_pool_reference(const ReferenceContext& context) {
    const Shape& shape = context.in(0).shape();
    const std::vector<Window> windows =
        three_axes(windows_of(context.attributes, shape, kernel_shape(context.attributes, shape)));
    const bool with_padding = context.attributes.integer("count_include_pad", 0) != 0;
    const int64_t plane_size = shape.elements(2, shape.rank());
    const std::vector<double> x = doubles_of(context.in(0));
    std::vector<double> y(static_cast<size_t>(context.out(0).elements()));
    for_each_window(
        windows, shape[0] * shape[1], [&](int64_t plane, int64_t output, const Taps* taps, const int64_t* at) {
            double sum = 0;
            for_each_tap(windows, taps, at,
                         [&](int64_t offset) { sum += x[static_cast<size_t>(plane * plane_size + offset)]; });
            double count = 1;
            for (size_t axis = 0; axis < 3; ++axis)
                count *= static_cast<double>(with_padding ? counted_taps(windows[axis], at[axis])
                                                          : std::max<int64_t>(taps[axis].last - taps[axis].first, 0));
            y[static_cast<size_t>(output)] = sum / count;
        });
    store_doubles(y, context.out(0));
}

}  // namespace

const Op average_pool_op{{
    .name = "AveragePool",
    .since = {1, 7, 10, 11, 19, 22},
    .types = float_types,
    .attributes = {{"auto_pad", "string", "NOTSET", "NOTSET, SAME_UPPER, SAME_LOWER or VALID"},
                   {"ceil_mode", "int", "0", "1: a last window may reach beyond the padding"},
                   {"count_include_pad", "int", "0", "1: padding counts in the divisor"},
                   {"dilations", "ints", "1", "distance of taps, per axis (opset 19)"},
                   {"kernel_shape", "ints", "", "extents of the window"},
                   {"pads", "ints", "0", "padding at the begin of each axis, then at the end"},
                   {"strides", "ints", "1", "distance of windows, per axis"}},
    .infer = infer_pool,
    .reference = average_pool_reference,
    .help = "Mean of each window.",
}};

}  // namespace headway
