#include "kernels/cpu/integer/byte_range.h"

#include <algorithm>
#include <cmath>

namespace headway {
namespace {

// Values of zero alone have no scale of their own.
float divisor_of(float scale) { return scale == 0 ? 1 : scale; }

}  // namespace

ByteRange ByteRange::between(float low, float high) {
    const float scale = (high - low) / 255;
    return {scale, std::clamp(std::nearbyint(-low / divisor_of(scale)), 0.0F, 255.0F)};
}

ByteRange ByteRange::of(const QuantizeOps& ops, const float* x, int64_t n) {
    float low = 0, high = 0;
    ops.range(x, n, &low, &high);
    return between(low, high);
}

void ByteRange::quantize(const QuantizeOps& ops, const float* x, int64_t n, uint8_t* y) const {
    const float divisor = divisor_of(scale);
    ops.quantize(x, n, {&divisor, &zero, false}, 0, y);
}

}  // namespace headway
