#include <csetjmp>
#include <cstdio>

#include <jpeglib.h>

#include <jerror.h>

#include "base/checked.h"
#include "images/decoder.h"

namespace headway {
namespace {

// libjpeg reports by a jump out of its C frames, into a function without objects to destroy.
struct JpegErrors : jpeg_error_mgr {
    std::jmp_buf back;
    char message[JMSG_LENGTH_MAX] = "";
};

[[noreturn]] void leave_jpeg(j_common_ptr info) {
    auto* errors = static_cast<JpegErrors*>(info->err);
    errors->format_message(info, errors->message);
    std::longjmp(errors->back, 1);
}

// What libjpeg would patch over with grey: data that are missing or make no sense.
void on_jpeg_message(j_common_ptr info, int level) {
    if (level >= 0) return;
    switch (info->err->msg_code) {
        case JWRN_JPEG_EOF:
        case JWRN_HIT_MARKER:
        case JWRN_HUFF_BAD_CODE:
        case JWRN_ARITH_BAD_CODE:
        case JWRN_MUST_RESYNC:
            leave_jpeg(info);
        default:
            return;
    }
}

// A small file may hold any number of scans over a large image: more than any encoder writes are an attack on time.
void on_jpeg_progress(j_common_ptr info) {
    constexpr int most_scans = 500;
    if (reinterpret_cast<j_decompress_ptr>(info)->input_scan_number <= most_scans) return;
    auto* errors = static_cast<JpegErrors*>(info->err);
    std::snprintf(errors->message, sizeof(errors->message), "it has more than %d scans", most_scans);
    std::longjmp(errors->back, 1);
}

class JpegReader {
public:
    explicit JpegReader(std::span<const std::byte> encoded) {
        info_.err = jpeg_std_error(&errors_);
        errors_.error_exit = leave_jpeg;
        errors_.emit_message = on_jpeg_message;
        errors_.output_message = [](j_common_ptr) {};
        if (setjmp(errors_.back) != 0) throw UserError(errors_.message);
        jpeg_create_decompress(&info_);
        progress_.progress_monitor = on_jpeg_progress;
        info_.progress = &progress_;
        jpeg_mem_src(&info_, reinterpret_cast<const unsigned char*>(encoded.data()),
                     static_cast<unsigned long>(encoded.size()));
    }
    JpegReader(const JpegReader&) = delete;
    JpegReader& operator=(const JpegReader&) = delete;
    ~JpegReader() { jpeg_destroy_decompress(&info_); }

    void read_header() {
        if (setjmp(errors_.back) != 0) throw UserError(errors_.message);
        jpeg_read_header(&info_, TRUE);
    }

    Canvas canvas() {
        if (info_.jpeg_color_space != JCS_GRAYSCALE && info_.jpeg_color_space != JCS_YCbCr &&
            info_.jpeg_color_space != JCS_RGB)
            throw Unsupported("its colours are neither grey, RGB nor YCbCr");
        const int64_t height = info_.image_height, width = info_.image_width;
        constexpr int64_t largest_block = 32;  // pixels along each axis that its data may fill at least
        // Of several scans, all coefficients are kept.
        const int64_t coefficients = pixel_bytes(round_up(height, largest_block), round_up(width, largest_block),
                                                 info_.num_components * int64_t{sizeof(JCOEF)});
        return Canvas(height, width, jpeg_has_multiple_scans(&info_) != FALSE ? coefficients : 0);
    }

    void read_pixels(Canvas& canvas) {
        if (setjmp(errors_.back) != 0) throw UserError(errors_.message);
        info_.out_color_space = JCS_RGB;
        jpeg_start_decompress(&info_);
        while (info_.output_scanline < info_.output_height) {
            JSAMPROW row = canvas.row(info_.output_scanline);
            jpeg_read_scanlines(&info_, &row, 1);
        }
        jpeg_finish_decompress(&info_);
    }

private:
    jpeg_decompress_struct info_{};
    JpegErrors errors_{};
    jpeg_progress_mgr progress_{};
};

Tensor decode_jpeg(std::span<const std::byte> encoded) {
    JpegReader reader(encoded);
    reader.read_header();
    Canvas canvas = reader.canvas();
    reader.read_pixels(canvas);
    return std::move(canvas).finish();
}

const ImageDecoder jpeg_decoder{{.name = "JPEG", .decode = decode_jpeg}};

}  // namespace
}  // namespace headway
