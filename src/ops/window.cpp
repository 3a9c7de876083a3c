#include "ops/window.h"

#include <algorithm>

#include "base/checked.h"
#include "ops/arguments.h"

namespace headway {
namespace {

void pad_to_same(Window& window, bool extra_at_end) {
    window.out = ceil_div(window.in, window.stride);
    const int64_t total = std::max<int64_t>((window.out - 1) * window.stride + window.reach() - window.in, 0);
    window.begin = extra_at_end ? total / 2 : total - total / 2;
    window.end = total - window.begin;
}

void count_outputs(Window& window, bool ceil_mode) {
    const int64_t padded = checked_add(window.in, checked_add(window.begin, window.end, "padding"), "padded extent");
    const int64_t room = padded - window.reach();
    if (room < 0)
        throw UserError("a window of " + std::to_string(window.reach()) + " does not fit a padded axis of " +
                        std::to_string(padded));
    window.out = (ceil_mode ? ceil_div(room, window.stride) : room / window.stride) + 1;
    if (ceil_mode && (window.out - 1) * window.stride >= window.in + window.begin) --window.out;
}

}  // namespace

std::vector<int64_t> positive_integers(const Attributes& attributes, const char* name, size_t count) {
    const std::vector<int64_t> values = attributes.integers(name, std::vector<int64_t>(count, 1));
    require_length(values, count, name);
    // Far beyond any tensor, and small enough that products of two of them do not overflow.
    constexpr int64_t limit = int64_t{1} << 30;
    for (int64_t value : values)
        if (value < 1 || value > limit)
            throw UserError("attribute " + std::string(name) + " holds " + std::to_string(value));
    return values;
}

std::vector<int64_t> kernel_shape(const Attributes& attributes, const Shape& input) {
    if (input.rank() < 3) throw UserError("its input has rank " + std::to_string(input.rank()) + ", less than 3");
    if (!attributes.has("kernel_shape")) throw UserError("has no kernel_shape");
    return positive_integers(attributes, "kernel_shape", input.rank() - 2);
}

std::vector<Window> windows_of(const Attributes& attributes, const Shape& input, const std::vector<int64_t>& kernel) {
    const size_t count = kernel.size();
    if (input.rank() != count + 2)
        throw UserError("its input has rank " + std::to_string(input.rank()) + ", which does not fit");
    if (count < 1 || count > 3) throw Unsupported("windows over " + std::to_string(count) + " axes are not supported");
    const std::vector<int64_t> strides = positive_integers(attributes, "strides", count);
    const std::vector<int64_t> dilations = positive_integers(attributes, "dilations", count);
    const std::vector<int64_t> pads = attributes.integers("pads", std::vector<int64_t>(2 * count, 0));
    require_length(pads, 2 * count, "pads");
    const std::string mode = attributes.text("auto_pad", "NOTSET");
    if (mode != "NOTSET" && mode != "SAME_UPPER" && mode != "SAME_LOWER" && mode != "VALID")
        throw UserError("attribute auto_pad has an unknown value");
    const bool ceil_mode = attributes.integer("ceil_mode", 0) != 0;
    std::vector<Window> windows;
    for (size_t i = 0; i < count; ++i) {
        Window window{kernel[i], strides[i], dilations[i], 0, 0, input[i + 2], 0};
        if (mode == "SAME_UPPER" || mode == "SAME_LOWER") {
            pad_to_same(window, mode == "SAME_UPPER");
        } else {
            if (mode == "NOTSET") {
                if (pads[i] < 0 || pads[count + i] < 0) throw UserError("attribute pads holds a negative number");
                window.begin = pads[i];
                window.end = pads[count + i];
            }
            count_outputs(window, ceil_mode);
        }
        windows.push_back(window);
    }
    return windows;
}

std::vector<Window> three_axes(std::vector<Window> windows) {
    windows.insert(windows.begin(), 3 - windows.size(), Window{});
    return windows;
}

}  // namespace headway
