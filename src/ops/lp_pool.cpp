#include <cmath>

#include "ops/doubles.h"
#include "ops/first_forms.h"
#include "ops/pool.h"

namespace headway {
namespace {

void lp_pool_reference(const ReferenceContext& context) {
    const Shape& shape = context.in(0).shape();
    const std::vector<Window> windows =
        three_axes(windows_of(context.attributes, shape, kernel_shape(context.attributes, shape)));
    const auto p = norm_exponent(context.attributes, context.version);
    const int64_t plane_size = shape.elements(2, shape.rank());
    const std::vector<double> x = doubles_of(context.in(0));
    std::vector<double> y = zeros(context.out(0).elements());
    for_each_window(windows, shape[0] * shape[1],
                    [&](int64_t plane, int64_t output, const Taps* taps, const int64_t* at) {
                        double sum = 0;
                        for_each_tap(windows, taps, at, [&](int64_t offset) {
                            sum += std::pow(std::fabs(x[static_cast<size_t>(plane * plane_size + offset)]), p);
                        });
                        y[static_cast<size_t>(output)] = std::pow(sum, 1.0 / p);
                    });
    store_doubles(y, context.out(0));
}

}  // namespace

const Op lp_pool_op{{
    .name = "LpPool",
    .since = {1, 2, 11, 18, 22},
    .types = float_types,
    .attributes = {{"auto_pad", "string", "NOTSET", "NOTSET, SAME_UPPER, SAME_LOWER or VALID"},
                   {"ceil_mode", "int", "0", "1: a last window may reach beyond the padding (opset 18)"},
                   {"dilations", "ints", "1", "distance of taps, per axis (opset 18)"},
                   {"kernel_shape", "ints", "", "extents of the window"},
                   {"p", "int", "2", "exponent of the norm"},
                   {"pads", "ints", "0", "padding at the begin of each axis, then at the end"},
                   {"strides", "ints", "1", "distance of windows, per axis"}},
    .infer = infer_pool,
    .reference = lp_pool_reference,
    .help = "p-norm of each window.",
}};

}  // namespace headway
