#include <cmath>
#include <limits>

#include "ops/doubles.h"
#include "ops/pool.h"

namespace headway {
namespace {

// Position in the spatial axes counted with the first axis fastest.
int64_t column_major(const std::vector<Window>& windows, int64_t offset) {
    const int64_t x = offset % windows[2].in;
    const int64_t y = offset / windows[2].in % windows[1].in;
    const int64_t z = offset / windows[2].in / windows[1].in;
    return (x * windows[1].in + y) * windows[0].in + z;
}

void max_pool_reference(const ReferenceContext& context) {
    const WindowMaxima y = max_windows(context.attributes, context.in(0).shape(), doubles_of(context.in(0)));
    if (context.wants(0)) store_doubles(y.values, context.out(0));
    if (context.wants(1)) std::ranges::copy(y.indices, context.out(1).mutable_data<int64_t>().begin());
}

}  // namespace

WindowMaxima max_windows(const Attributes& attributes, const Shape& shape, const std::vector<double>& x) {
    const std::vector<Window> windows = three_axes(windows_of(attributes, shape, kernel_shape(attributes, shape)));
    const int64_t plane_size = shape.elements(2, shape.rank());
    const bool by_columns = attributes.integer("storage_order", 0) != 0;
    const int64_t planes = shape[0] * shape[1];
    int64_t outputs = planes;
    for (const Window& window : windows) outputs *= window.out;
    WindowMaxima y{std::vector<double>(static_cast<size_t>(outputs)),
                   std::vector<int64_t>(static_cast<size_t>(outputs))};
    for_each_window(windows, planes, [&](int64_t plane, int64_t output, const Taps* taps, const int64_t* at) {
        double best = -std::numeric_limits<double>::infinity();
        int64_t where = -1;
        for_each_tap(windows, taps, at, [&](int64_t offset) {
            const double value = x[static_cast<size_t>(plane * plane_size + offset)];
            // The first NaN wins and stays.
            if (where < 0 || (!std::isnan(best) && (value > best || std::isnan(value)))) {
                best = value;
                where = offset;
            }
        });
        y.values[static_cast<size_t>(output)] = best;
        y.indices[static_cast<size_t>(output)] =
            plane * plane_size + (by_columns ? column_major(windows, where) : where);
    });
    return y;
}

std::vector<AttributeDoc> max_pool_attributes() {
    return {{"auto_pad", "string", "NOTSET", "NOTSET, SAME_UPPER, SAME_LOWER or VALID"},
            {"ceil_mode", "int", "0", "1: a last window may reach beyond the padding"},
            {"dilations", "ints", "1", "distance of taps, per axis"},
            {"kernel_shape", "ints", "", "extents of the window"},
            {"pads", "ints", "0", "padding at the begin of each axis, then at the end"},
            {"storage_order", "int", "0", "1: indices count the first spatial axis fastest"},
            {"strides", "ints", "1", "distance of windows, per axis"}};
}

const Op max_pool_op{{
    .name = "MaxPool",
    .since = {1, 8, 10, 11, 12, 22},
    .outputs = {1, 2},
    .types = float_types | TypeSet{ElementType::i8, ElementType::u8},
    .attributes = max_pool_attributes(),
    .infer = infer_pool,
    .reference = max_pool_reference,
    .help = "Largest element of each window, and where it stood; NaN wins.",
}};

}  // namespace headway
