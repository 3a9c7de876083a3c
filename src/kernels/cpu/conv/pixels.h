// Walking over the output pixels of a convolution in blocks, row by row.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/checked.h"
#include "kernels/cpu/conv/geometry.h"

namespace headway {

// Consecutive output pixels, counted through batch, rows and columns.
struct PixelBlock {
    int64_t pixel, count;
};

// A stretch of a block within one output row; `at` is its position in the block.
struct PixelStretch {
    int64_t image, oh, ow, count, at;
};

template <class Visit>
void for_each_stretch(const ConvGeometry& g, const PixelBlock& block, Visit visit) {
    int64_t pixel = block.pixel;
    for (int64_t at = 0; at < block.count;) {
        const int64_t ow = pixel % g.ow;
        const int64_t row = pixel / g.ow;
        const int64_t count = std::min(g.ow - ow, block.count - at);
        visit(PixelStretch{row / g.oh, row % g.oh, ow, count, at});
        at += count;
        pixel += count;
    }
}

// Positions j of [0, count) for which 0 <= first + j * stride < limit, as [begin, end).
struct PixelRange {
    int64_t begin, end;
};
inline PixelRange pixels_inside(int64_t first, int64_t stride, int64_t count, int64_t limit) {
    const int64_t begin = std::min(count, first >= 0 ? 0 : ceil_div(-first, stride));
    const int64_t end = first >= limit ? 0 : ceil_div(limit - first, stride);
    return {begin, std::clamp(end, begin, count)};
}

}  // namespace headway
