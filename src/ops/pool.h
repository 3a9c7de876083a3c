// Pooling over windows: the shape rule and the walk that MaxPool, AveragePool and LpPool share.
#pragma once

#include <algorithm>
#include <vector>

#include "ops/op.h"
#include "ops/window.h"

namespace headway {

// Output 0 (and 1, as int64, where wanted): the windows of kernel_shape over the input.
void infer_pool(InferContext& context);

// Means of the windows over x of images x channels x extents, in double.
std::vector<double> average_windows(const Attributes& attributes, const Shape& shape, const std::vector<double>& x);
std::vector<AttributeDoc> average_pool_attributes();

// The largest element of each window, and where it stands in all of x; see MaxPool.
struct WindowMaxima {
    std::vector<double> values;
    std::vector<int64_t> indices;
};
WindowMaxima max_windows(const Attributes& attributes, const Shape& shape, const std::vector<double>& x);
std::vector<AttributeDoc> max_pool_attributes();

// The part of a window, along one axis, whose taps lie in the input: taps [first, last).
struct Taps {
    int64_t first, last;
};
Taps taps_inside(const Window& window, int64_t output);

// visit(plane, output position, taps of the three axes, window start) for every output of every channel.
template <class F>
void for_each_window(const std::vector<Window>& windows, int64_t planes, F&& visit) {
    for (int64_t plane = 0, output = 0; plane < planes; ++plane)
        for (int64_t z = 0; z < windows[0].out; ++z)
            for (int64_t y = 0; y < windows[1].out; ++y)
                for (int64_t x = 0; x < windows[2].out; ++x, ++output) {
                    const int64_t at[3] = {z, y, x};
                    const Taps taps[3] = {taps_inside(windows[0], z), taps_inside(windows[1], y),
                                          taps_inside(windows[2], x)};
                    visit(plane, output, taps, at);
                }
}

// read(offset in the plane) for every tap inside the input.
template <class F>
void for_each_tap(const std::vector<Window>& windows, const Taps* taps, const int64_t* at, F&& read) {
    for (int64_t i = taps[0].first; i < taps[0].last; ++i) {
        const int64_t z = windows[0].position(at[0], i);
        for (int64_t j = taps[1].first; j < taps[1].last; ++j) {
            const int64_t row = (z * windows[1].in + windows[1].position(at[1], j)) * windows[2].in;
            for (int64_t k = taps[2].first; k < taps[2].last; ++k) read(row + windows[2].position(at[2], k));
        }
    }
}

}  // namespace headway
