#include "ops/pool.h"

#include "base/checked.h"

namespace headway {

void infer_pool(InferContext& context) {
    const Shape& shape = context.shape(0);
    const std::vector<Window> windows =
        windows_of(context.attributes(), shape, kernel_shape(context.attributes(), shape));
    std::vector<int64_t> dims{shape[0], shape[1]};
    for (const Window& window : windows) dims.push_back(window.out);
    context.set_output(0, context.type(0), Shape(dims));
    context.set_output(1, ElementType::i64, Shape(std::move(dims)));
}

Taps taps_inside(const Window& window, int64_t output) {
    const int64_t start = window.position(output, 0);
    const int64_t first = start >= 0 ? 0 : ceil_div(-start, window.dilation);
    const int64_t last = start >= window.in ? 0 : (window.in - 1 - start) / window.dilation + 1;
    return {std::min(first, window.kernel), std::clamp(last, int64_t{0}, window.kernel)};
}

}  // namespace headway
