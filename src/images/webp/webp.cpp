#include <webp/decode.h>

#include "images/decoder.h"

namespace headway {
namespace {

Tensor decode_webp(std::span<const std::byte> encoded) {
    const auto* bytes = reinterpret_cast<const uint8_t*>(encoded.data());
    WebPBitstreamFeatures features;
    switch (WebPGetFeatures(bytes, encoded.size(), &features)) {
        case VP8_STATUS_OK:
            break;
        case VP8_STATUS_NOT_ENOUGH_DATA:
            throw UserError("the data are cut off");
        default:
            throw UserError("the data are damaged");
    }
    if (features.has_animation != 0) throw Unsupported("it is an animation");
    // Lossless images are decoded as pixels of four bytes, with indices and transparency beside them.
    Canvas canvas(features.height, features.width, pixel_bytes(features.height, features.width, 8));
    const auto row = static_cast<int>(canvas.width() * 3);
    if (WebPDecodeRGBInto(bytes, encoded.size(), canvas.row(0), static_cast<size_t>(row * canvas.height()), row) ==
        nullptr)
        throw UserError("the data are damaged or cut off");
    return std::move(canvas).finish();
}

const ImageDecoder webp_decoder{{.name = "WebP", .decode = decode_webp}};

}  // namespace
}  // namespace headway
