#include <algorithm>

#include "images/decode.h"
#include "ops/op.h"

namespace headway {
namespace {

enum class PixelFormat { rgb, bgr, grey };

PixelFormat pixel_format_of(const Attributes& attributes) {
    const std::string word = attributes.text("pixel_format", "RGB");
    if (word == "RGB") return PixelFormat::rgb;
    if (word == "BGR") return PixelFormat::bgr;
    if (word == "Grayscale") return PixelFormat::grey;
    throw UserError("attribute pixel_format has an unknown value");
}

// The luma of ITU-R BT.601 in integers of 16 bits, which leaves grey pixels as they are.
uint8_t luma(const uint8_t* pixel) {
    return static_cast<uint8_t>((pixel[0] * 19595U + pixel[1] * 38470U + pixel[2] * 7471U + 32768U) >> 16);
}

std::vector<Datum> interpret_image_decoder(const InterpretContext& context) {
    const Tensor& encoded = context.tensor(0);
    if (encoded.type() != ElementType::u8 || encoded.shape().rank() != 1)
        throw UserError("its input is no list of bytes");
    const PixelFormat format = pixel_format_of(context.attributes());
    Tensor image = decode_image(encoded.bytes());
    const std::span<uint8_t> pixels = image.mutable_data<uint8_t>();
    if (format == PixelFormat::bgr)
        for (size_t i = 0; i < pixels.size(); i += 3) std::swap(pixels[i], pixels[i + 2]);
    if (format != PixelFormat::grey) return {std::move(image)};
    Tensor grey(ElementType::u8, Shape{image.shape()[0], image.shape()[1], 1});
    uint8_t* to = grey.mutable_data<uint8_t>().data();
    for (size_t i = 0; i < pixels.size(); i += 3) *to++ = luma(&pixels[i]);
    return {std::move(grey)};
}

}  // namespace

const Op image_decoder_op{{
    .name = "ImageDecoder",
    .since = {20},
    .types = {ElementType::u8},
    .attributes = {{"pixel_format", "string", "RGB", "RGB, BGR or Grayscale: the channels of the output"}},
    .infer =
        [](InferContext&) { throw Unsupported("the shape of its output is known only when the image is decoded"); },
    .interpret = interpret_image_decoder,
    .help = "The pixels of an encoded image (BMP, JPEG, JPEG 2000, PNG, PNM, TIFF, WebP), height x width x channels. "
            "An image that cannot be decoded is an error, not the empty tensor that ONNX allows; transparency is "
            "dropped. Interpreted only.",
}};

}  // namespace headway
