#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <vector>

#include <png.h>

#include "base/checked.h"
#include "images/decoder.h"

namespace headway {
namespace {

// libpng reports by a jump out of its C frames, into a function without objects to destroy. Its own limits on extents
// (a million each) and on chunks stay as they are.
class PngReader {
public:
    explicit PngReader(std::span<const std::byte> encoded) : left_(encoded) {
        png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, on_error, on_warning);
        if (png_ != nullptr) info_ = png_create_info_struct(png_);
        if (info_ == nullptr) {
            png_destroy_read_struct(&png_, nullptr, nullptr);
            throw UserError("libpng cannot be used");
        }
        png_set_read_fn(png_, this, read);
    }
    PngReader(const PngReader&) = delete;
    PngReader& operator=(const PngReader&) = delete;
    ~PngReader() { png_destroy_read_struct(&png_, &info_, nullptr); }

    void read_header() {
        if (setjmp(png_jmpbuf(png_)) != 0) throw UserError(message_);
        png_read_info(png_, info_);
        png_set_strip_16(png_);
        png_set_palette_to_rgb(png_);
        png_set_expand_gray_1_2_4_to_8(png_);
        png_set_gray_to_rgb(png_);
        png_set_strip_alpha(png_);
        png_set_interlace_handling(png_);
        png_read_update_info(png_, info_);
    }

    Canvas canvas() {
        const auto width = int64_t{png_get_image_width(png_, info_)};
        const auto height = int64_t{png_get_image_height(png_, info_)};
        HEADWAY_CHECK(static_cast<int64_t>(png_get_rowbytes(png_, info_)) == width * 3);
        return {height, width, pixel_bytes(height, 1, sizeof(png_bytep))};
    }

    void read_pixels(std::vector<png_bytep>& rows) {
        if (setjmp(png_jmpbuf(png_)) != 0) throw UserError(message_);
        png_read_image(png_, rows.data());
        png_read_end(png_, nullptr);
    }

private:
    [[noreturn]] static void on_error(png_structp png, png_const_charp message) {
        auto* reader = static_cast<PngReader*>(png_get_error_ptr(png));
        std::snprintf(reader->message_, sizeof(reader->message_), "%s", message);
        png_longjmp(png, 1);
    }
    static void on_warning(png_structp, png_const_charp) {}
    static void read(png_structp png, png_bytep to, size_t size) {
        auto* reader = static_cast<PngReader*>(png_get_io_ptr(png));
        if (size > reader->left_.size()) png_error(png, "the data are cut off");
        std::memcpy(to, reader->left_.data(), size);
        reader->left_ = reader->left_.subspan(size);
    }

    png_structp png_ = nullptr;
    png_infop info_ = nullptr;
    std::span<const std::byte> left_;
    char message_[128] = "";
};

Tensor decode_png(std::span<const std::byte> encoded) {
    PngReader reader(encoded);
    reader.read_header();
    Canvas canvas = reader.canvas();
    std::vector<png_bytep> rows;
    for (int64_t y = 0; y < canvas.height(); ++y) rows.push_back(canvas.row(y));
    reader.read_pixels(rows);
    return std::move(canvas).finish();
}

const ImageDecoder png_decoder{{.name = "PNG", .decode = decode_png}};

}  // namespace
}  // namespace headway
