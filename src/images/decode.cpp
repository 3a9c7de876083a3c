#include "images/decode.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/checked.h"
#include "images/decoder.h"

namespace headway {
namespace {

using namespace std::string_view_literals;

struct Format {
    std::string_view name, library;
};

constexpr Format bmp{"BMP", "stb_image"}, jpeg{"JPEG", "libjpeg"}, jpeg2000{"JPEG 2000", "OpenJPEG"},
    png{"PNG", "libpng"}, pnm{"PNM", ""}, tiff{"TIFF", "libtiff"}, webp{"WebP", "libwebp"};

struct Signature {
    std::string_view bytes;
    Format format;
    size_t at = 0;
};

constexpr std::array<Signature, 16> signatures{{
    {"BM"sv, bmp},
    {"\xff\xd8\xff"sv, jpeg},
    {"\0\0\0\x0cjP  \r\n\x87\n"sv, jpeg2000},
    {"\xff\x4f\xff\x51"sv, jpeg2000},
    {"\x89PNG\r\n\x1a\n"sv, png},
    {"P1"sv, pnm},
    {"P2"sv, pnm},
    {"P3"sv, pnm},
    {"P4"sv, pnm},
    {"P5"sv, pnm},
    {"P6"sv, pnm},
    {"II*\0"sv, tiff},
    {"MM\0*"sv, tiff},
    {"II+\0"sv, tiff},
    {"MM\0+"sv, tiff},
    {"WEBPVP8"sv, webp, 8},
}};

const Format& format_of(std::span<const std::byte> encoded) {
    const std::string_view text(reinterpret_cast<const char*>(encoded.data()), encoded.size());
    for (const Signature& signature : signatures)
        if (text.size() >= signature.at && text.substr(signature.at).starts_with(signature.bytes))
            return signature.format;
    throw UserError("the data are no image of a known format (BMP, JPEG, JPEG 2000, PNG, PNM, TIFF, WebP)");
}

}  // namespace

int64_t pixel_bytes(int64_t height, int64_t width, int64_t bytes) {
    return checked_product(std::array{height, width, bytes}, "its size");
}

Canvas::Canvas(int64_t height, int64_t width, int64_t working_bytes) {
    if (height < 1 || width < 1) throw UserError("it has no pixels");
    working_ = MemoryClaim(working_bytes);
    pixels_ = Tensor(ElementType::u8, Shape{height, width, 3});
}

Tensor decode_image(std::span<const std::byte> encoded) {
    static const Registry<ImageDecoder> decoders = declared<ImageDecoder>();
    const Format& format = format_of(encoded);
    const ImageDecoder* decoder = decoders.find(format.name);
    const std::string name(format.name);
    if (decoder == nullptr)
        throw Unsupported(name + " images are not handled: this build was made without " + std::string(format.library));
    try {
        return decoder->decode(encoded);
    } catch (const Unsupported& error) {
        throw Unsupported(name + " image: " + error.what());
    } catch (const UserError& error) {
        throw UserError(name + " image: " + error.what());
    }
}

}  // namespace headway
