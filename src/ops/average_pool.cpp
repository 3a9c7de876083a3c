#include "ops/doubles.h"
#include "ops/pool.h"

namespace headway {
namespace {

// Taps along one axis that lie in the input or its padding, but not beyond (as with ceil_mode).
int64_t counted_taps(const Window& window, int64_t output) {
    const int64_t room = window.in + window.end - 1 - window.position(output, 0);
    return std::clamp(room / window.dilation + 1, int64_t{0}, window.kernel);
}

}  // namespace

std::vector<double> average_windows(const Attributes& attributes, const Shape& shape, const std::vector<double>& x) {
    const std::vector<Window> windows = three_axes(windows_of(attributes, shape, kernel_shape(attributes, shape)));
    const bool with_padding = attributes.integer("count_include_pad", 0) != 0;
    const int64_t plane_size = shape.elements(2, shape.rank());
    std::vector<double> y = zeros(shape[0] * shape[1] * windows[0].out * windows[1].out * windows[2].out);
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
    return y;
}

std::vector<AttributeDoc> average_pool_attributes() {
    return {{"auto_pad", "string", "NOTSET", "NOTSET, SAME_UPPER, SAME_LOWER or VALID"},
            {"ceil_mode", "int", "0", "1: a last window may reach beyond the padding"},
            {"count_include_pad", "int", "0", "1: padding counts in the divisor"},
            {"dilations", "ints", "1", "distance of taps, per axis (opset 19)"},
            {"kernel_shape", "ints", "", "extents of the window"},
            {"pads", "ints", "0", "padding at the begin of each axis, then at the end"},
            {"strides", "ints", "1", "distance of windows, per axis"}};
}

const Op average_pool_op{{
    .name = "AveragePool",
    .since = {1, 7, 10, 11, 19, 22},
    .types = float_types,
    .attributes = average_pool_attributes(),
    .infer = infer_pool,
    .reference =
        [](const ReferenceContext& context) {
            store_doubles(average_windows(context.attributes, context.in(0).shape(), doubles_of(context.in(0))),
                          context.out(0));
        },
    .help = "Mean of each window.",
}};

}  // namespace headway
