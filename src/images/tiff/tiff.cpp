#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include <tiffio.h>

#include "base/checked.h"
#include "images/decoder.h"

namespace headway {
namespace {

// Bytes in memory as libtiff's file, and what it says of them.
struct TiffSource {
    std::span<const std::byte> bytes;
    uint64_t at = 0;
    char message[160] = "";
};

tmsize_t read_tiff(thandle_t handle, void* to, tmsize_t size) {
    auto* source = static_cast<TiffSource*>(handle);
    const uint64_t left = source->bytes.size() - std::min<uint64_t>(source->at, source->bytes.size());
    const auto count = std::min(static_cast<uint64_t>(std::max<tmsize_t>(size, 0)), left);
    if (count > 0) std::memcpy(to, source->bytes.data() + source->at, count);
    source->at += count;
    return static_cast<tmsize_t>(count);
}

tmsize_t refuse_to_write(thandle_t, void*, tmsize_t) { return -1; }

toff_t seek_tiff(thandle_t handle, toff_t offset, int whence) {
    auto* source = static_cast<TiffSource*>(handle);
    if (whence == SEEK_CUR) offset += source->at;
    if (whence == SEEK_END) offset += source->bytes.size();
    return source->at = offset;
}

int close_tiff(thandle_t) { return 0; }

toff_t size_of_tiff(thandle_t handle) { return static_cast<TiffSource*>(handle)->bytes.size(); }

// The first message tells most.
int on_tiff_error(TIFF*, void* user, const char*, const char* format, va_list arguments) {
    auto* source = static_cast<TiffSource*>(user);
    if (source->message[0] == 0) std::vsnprintf(source->message, sizeof(source->message), format, arguments);
    return 1;
}

int on_tiff_warning(TIFF*, void*, const char*, const char*, va_list) { return 1; }

using TiffPointer = std::unique_ptr<TIFF, decltype(&TIFFClose)>;

// libtiff gets at most `largest` bytes at once.
TiffPointer open_tiff(TiffSource& source, int64_t largest) {
    const std::unique_ptr<TIFFOpenOptions, decltype(&TIFFOpenOptionsFree)> options(TIFFOpenOptionsAlloc(),
                                                                                   TIFFOpenOptionsFree);
    if (options == nullptr) throw UserError("libtiff cannot be used");
    TIFFOpenOptionsSetErrorHandlerExtR(options.get(), on_tiff_error, &source);
    TIFFOpenOptionsSetWarningHandlerExtR(options.get(), on_tiff_warning, nullptr);
    TIFFOpenOptionsSetMaxSingleMemAlloc(options.get(), static_cast<tmsize_t>(largest));
    source.at = 0;
    // m: memory is not mapped once more
    TiffPointer tiff(TIFFClientOpenExt("", "rm", &source, read_tiff, refuse_to_write, seek_tiff, close_tiff,
                                       size_of_tiff, nullptr, nullptr, options.get()),
                     TIFFClose);
    if (tiff == nullptr) throw UserError(source.message);
    return tiff;
}

// libtiff would multiply colours by the transparency, unless that has been done before: then it copies them.
void leave_transparency(TIFF* tiff) {
    uint16_t count = 0;
    const uint16_t* kinds = nullptr;
    if (TIFFGetField(tiff, TIFFTAG_EXTRASAMPLES, &count, &kinds) == 0 || count != 1) return;
    const uint16_t associated = EXTRASAMPLE_ASSOCALPHA;
    if (kinds[0] == EXTRASAMPLE_UNASSALPHA) TIFFSetField(tiff, TIFFTAG_EXTRASAMPLES, 1, &associated);
}

Tensor decode_tiff(std::span<const std::byte> encoded) {
    TiffSource source{encoded};
    constexpr int64_t directory_bytes = int64_t{1} << 20;  // tags and small tiles
    uint32_t width = 0, height = 0;
    {
        const TiffPointer tiff = open_tiff(source, directory_bytes);
        if (TIFFGetField(tiff.get(), TIFFTAG_IMAGEWIDTH, &width) == 0 ||
            TIFFGetField(tiff.get(), TIFFTAG_IMAGELENGTH, &height) == 0)
            throw UserError("its extents are missing");
    }
    // A strip or tile of up to 16 bytes for each pixel, and libtiff's own pixels of four bytes.
    const int64_t largest = checked_add(pixel_bytes(height, width, 16), directory_bytes, "its size");
    Canvas canvas(height, width, checked_add(largest, pixel_bytes(height, width, 4), "its size"));
    const TiffPointer tiff = open_tiff(source, largest);
    char reason[1024] = "";
    if (TIFFRGBAImageOK(tiff.get(), reason) == 0) throw Unsupported(reason);
    leave_transparency(tiff.get());
    std::vector<uint32_t> raster(static_cast<size_t>(canvas.height() * canvas.width()));
    if (TIFFReadRGBAImageOriented(tiff.get(), width, height, raster.data(), ORIENTATION_TOPLEFT, 1) == 0)
        throw UserError(source.message[0] == 0 ? "the data are damaged" : source.message);
    uint8_t* to = canvas.row(0);
    for (const uint32_t pixel : raster) {
        *to++ = static_cast<uint8_t>(TIFFGetR(pixel));
        *to++ = static_cast<uint8_t>(TIFFGetG(pixel));
        *to++ = static_cast<uint8_t>(TIFFGetB(pixel));
    }
    return std::move(canvas).finish();
}

const ImageDecoder tiff_decoder{{.name = "TIFF", .decode = decode_tiff}};

}  // namespace
}  // namespace headway
