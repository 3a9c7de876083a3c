// BMP by stb_image. It reads what is missing at the end as zeros, so that the length is checked here.
#include <limits>
#include <memory>

#include "base/checked.h"
#include "images/decoder.h"

#define STB_IMAGE_STATIC
#define STB_IMAGE_IMPLEMENTATION
#define STBI_ONLY_BMP
#define STBI_NO_STDIO
#define STBI_NO_LINEAR
#define STBI_NO_HDR
#define STBI_ASSERT(condition) static_cast<void>(condition)  // what is checked is refused as well
#include <stb/stb_image.h>

namespace headway {
namespace {

int64_t bmp_number(std::span<const std::byte> bytes, size_t at, size_t size) {
    int64_t value = 0;
    for (size_t i = size; i-- > 0;) value = value * 256 + std::to_integer<int64_t>(bytes[at + i]);
    return value;
}

// Where the samples begin, how many rows there are and how long one is, from the header that stb_image has understood.
void require_whole(std::span<const std::byte> encoded, int64_t height, int64_t width) {
    constexpr size_t old_header = 26, header = 30;
    constexpr int64_t old_header_bytes = 12;
    if (encoded.size() < old_header) throw UserError("the data are cut off");
    const bool is_old = bmp_number(encoded, 14, 4) == old_header_bytes;
    if (!is_old && encoded.size() < header) throw UserError("the data are cut off");
    const int64_t bits = checked_mul(width, bmp_number(encoded, is_old ? 24 : 28, 2), "its size");
    const int64_t last_row = ceil_div(bits, 8), row = round_up(last_row, 4);
    const int64_t samples = checked_add(checked_mul(row, height - 1, "its size"), last_row, "its size");
    if (checked_add(samples, bmp_number(encoded, 10, 4), "its size") > static_cast<int64_t>(encoded.size()))
        throw UserError("the data are cut off");
}

Tensor decode_bmp(std::span<const std::byte> encoded) {
    if (encoded.size() > std::numeric_limits<int>::max()) throw UserError("the data are too long");
    const auto* bytes = reinterpret_cast<const stbi_uc*>(encoded.data());
    const auto size = static_cast<int>(encoded.size());
    int width = 0, height = 0, channels = 0;
    if (stbi_info_from_memory(bytes, size, &width, &height, &channels) == 0) throw UserError(stbi_failure_reason());
    if (width < 1 || height < 1) throw UserError("it has no pixels");
    require_whole(encoded, height, width);
    // stb_image makes pixels of four bytes, and then of three.
    Canvas canvas(height, width, pixel_bytes(height, width, 7));
    const std::unique_ptr<stbi_uc, decltype(&stbi_image_free)> pixels(
        stbi_load_from_memory(bytes, size, &width, &height, &channels, 3), stbi_image_free);
    if (pixels == nullptr) throw UserError(stbi_failure_reason());
    HEADWAY_CHECK(width == canvas.width() && height == canvas.height());
    std::copy_n(pixels.get(), pixel_bytes(height, width, 3), canvas.row(0));
    return std::move(canvas).finish();
}

const ImageDecoder bmp_decoder{{.name = "BMP", .decode = decode_bmp}};

}  // namespace
}  // namespace headway
