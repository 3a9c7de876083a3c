#include "images/jpeg2000/codestream.h"

#include "base/checked.h"

namespace headway {
namespace {

int64_t big_endian(std::span<const std::byte> bytes, size_t at, size_t size) {
    if (at > bytes.size() || size > bytes.size() - at) throw UserError("the data are cut off");
    uint64_t value = 0;
    for (size_t i = 0; i < size; ++i) value = value << 8 | std::to_integer<uint64_t>(bytes[at + i]);
    if (value > INT64_MAX) throw UserError("a box is too long");
    return static_cast<int64_t>(value);
}

// What stands in the box of the codestream. A box is its length (0: to the end, 1: a longer number behind the kind),
// its kind and its content.
std::span<const std::byte> unboxed(std::span<const std::byte> bytes) {
    constexpr int64_t codestream_kind = 0x6a703263;  // "jp2c"
    while (!bytes.empty()) {
        int64_t length = big_endian(bytes, 0, 4);
        const int64_t kind = big_endian(bytes, 4, 4);
        const bool is_long = length == 1;
        if (is_long) length = big_endian(bytes, 8, 8);
        const int64_t header = is_long ? 16 : 8;
        if (length == 0) length = static_cast<int64_t>(bytes.size());
        if (length < header) throw UserError("a box is too short");
        if (kind == codestream_kind) return bytes.subspan(static_cast<size_t>(header));
        if (length > static_cast<int64_t>(bytes.size())) break;
        bytes = bytes.subspan(static_cast<size_t>(length));
    }
    throw UserError("the data are cut off");
}

}  // namespace

Codestream find_codestream(std::span<const std::byte> encoded) {
    constexpr int64_t start = 0xff4fff51;  // of a codestream, and of the size that follows at once
    const bool is_boxed = big_endian(encoded, 0, 4) != start;
    const std::span<const std::byte> bytes = is_boxed ? unboxed(encoded) : encoded;
    if (big_endian(bytes, 0, 4) != start) throw UserError("its size is missing");
    const auto tiles_along = [&](size_t extent_at, size_t tile_at, size_t offset_at) {
        const int64_t extent = big_endian(bytes, extent_at, 4), tile = big_endian(bytes, tile_at, 4),
                      offset = big_endian(bytes, offset_at, 4);
        if (tile == 0 || offset >= extent) throw UserError("its size makes no sense");
        return ceil_div(extent - offset, tile);
    };
    return {is_boxed, checked_mul(tiles_along(8, 24, 32), tiles_along(12, 28, 36), "its tiles"),
            big_endian(bytes, 40, 2)};
}

}  // namespace headway
