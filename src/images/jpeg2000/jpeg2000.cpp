#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>

#include <openjpeg.h>

#include "base/checked.h"
#include "images/decoder.h"
#include "images/jpeg2000/codestream.h"

namespace headway {
namespace {

// Bytes in memory as OpenJPEG's stream, and what it says of them.
struct Jpeg2000Source {
    std::span<const std::byte> bytes;
    size_t at = 0;
    char message[160] = "";

    size_t left() const { return bytes.size() - at; }
};

OPJ_SIZE_T read_jpeg2000(void* to, OPJ_SIZE_T size, void* user) {
    auto* source = static_cast<Jpeg2000Source*>(user);
    const size_t count = std::min<size_t>(size, source->left());
    if (count == 0) return static_cast<OPJ_SIZE_T>(-1);
    std::memcpy(to, source->bytes.data() + source->at, count);
    source->at += count;
    return count;
}

OPJ_OFF_T skip_jpeg2000(OPJ_OFF_T size, void* user) {
    auto* source = static_cast<Jpeg2000Source*>(user);
    if (size < 0) return -1;
    const size_t count = std::min(static_cast<size_t>(size), source->left());
    source->at += count;
    return count == 0 && size > 0 ? -1 : static_cast<OPJ_OFF_T>(count);
}

OPJ_BOOL seek_jpeg2000(OPJ_OFF_T to, void* user) {
    auto* source = static_cast<Jpeg2000Source*>(user);
    if (to < 0 || static_cast<size_t>(to) > source->bytes.size()) return OPJ_FALSE;
    source->at = static_cast<size_t>(to);
    return OPJ_TRUE;
}

// The first message tells most. It ends its lines itself.
void on_jpeg2000_error(const char* message, void* user) {
    auto* source = static_cast<Jpeg2000Source*>(user);
    if (source->message[0] != 0) return;
    std::snprintf(source->message, sizeof(source->message), "%s", message);
    source->message[std::strcspn(source->message, "\r\n")] = 0;
}

template <class T, void (*destroy)(T*)>
struct Jpeg2000Deleter {
    void operator()(T* object) const { destroy(object); }
};
using ImagePointer = std::unique_ptr<opj_image_t, Jpeg2000Deleter<opj_image_t, opj_image_destroy>>;
struct CodecDeleter {
    void operator()(opj_codec_t* codec) const { opj_destroy_codec(codec); }
};
struct StreamDeleter {
    void operator()(opj_stream_t* stream) const { opj_stream_destroy(stream); }
};

// One component as bytes under the extents of the image.
class Channel {
public:
    Channel(const opj_image_comp_t& component, const Canvas& canvas) : component_(component), canvas_(canvas) {
        if (component.data == nullptr || component.w < 1 || component.h < 1) throw UserError("a component is missing");
        if (component.prec < 1 || component.prec > 31) throw Unsupported("its samples have too many bits");
    }
    int at(int64_t y, int64_t x) const {
        const int64_t row = y * component_.h / canvas_.height(), column = x * component_.w / canvas_.width();
        const int64_t largest = (int64_t{1} << component_.prec) - 1;
        int64_t sample = component_.data[row * component_.w + column];
        if (component_.sgnd != 0) sample += int64_t{1} << (component_.prec - 1);
        sample = std::clamp<int64_t>(sample, 0, largest);
        return static_cast<int>(component_.prec > 8 ? sample >> (component_.prec - 8) : sample * 255 / largest);
    }

private:
    const opj_image_comp_t& component_;
    const Canvas& canvas_;
};

uint8_t rounded(double value) { return static_cast<uint8_t>(std::clamp(std::round(value), 0.0, 255.0)); }

void put_pixels(const opj_image_t& image, Canvas& canvas) {
    const bool is_grey = image.numcomps < 3;
    const Channel first(image.comps[0], canvas), second(image.comps[is_grey ? 0 : 1], canvas),
        third(image.comps[is_grey ? 0 : 2], canvas);
    for (int64_t y = 0; y < canvas.height(); ++y) {
        uint8_t* to = canvas.row(y);
        for (int64_t x = 0; x < canvas.width(); ++x, to += 3) {
            const int a = first.at(y, x), b = second.at(y, x), c = third.at(y, x);
            if (!is_grey && image.color_space == OPJ_CLRSPC_SYCC) {
                to[0] = rounded(a + 1.402 * (c - 128));
                to[1] = rounded(a - 0.344136 * (b - 128) - 0.714136 * (c - 128));
                to[2] = rounded(a + 1.772 * (b - 128));
            } else {
                to[0] = static_cast<uint8_t>(a);
                to[1] = static_cast<uint8_t>(b);
                to[2] = static_cast<uint8_t>(c);
            }
        }
    }
}

Tensor decode_jpeg2000(std::span<const std::byte> encoded) {
    const Codestream codestream = find_codestream(encoded);
    // Beyond these there is nothing that could be shown, and OpenJPEG makes tables for each tile and component before
    // it reads on.
    constexpr int64_t most_components = 4, tile_bytes = 8192, component_bytes = 2048;
    if (codestream.components > most_components) throw Unsupported("it has more than four components");
    const MemoryClaim tables(
        checked_mul(codestream.tiles, tile_bytes + most_components * component_bytes, "its tiles"));

    Jpeg2000Source source{encoded};
    const std::unique_ptr<opj_codec_t, CodecDeleter> codec(
        opj_create_decompress(codestream.is_boxed ? OPJ_CODEC_JP2 : OPJ_CODEC_J2K));
    const std::unique_ptr<opj_stream_t, StreamDeleter> stream(opj_stream_default_create(OPJ_TRUE));
    if (codec == nullptr || stream == nullptr) throw UserError("OpenJPEG cannot be used");
    const auto require = [&](OPJ_BOOL holds) {
        if (holds == OPJ_FALSE) throw UserError(source.message[0] == 0 ? "the data are damaged" : source.message);
    };
    opj_set_error_handler(codec.get(), on_jpeg2000_error, &source);
    opj_stream_set_user_data(stream.get(), &source, nullptr);
    opj_stream_set_user_data_length(stream.get(), encoded.size());
    opj_stream_set_read_function(stream.get(), read_jpeg2000);
    opj_stream_set_skip_function(stream.get(), skip_jpeg2000);
    opj_stream_set_seek_function(stream.get(), seek_jpeg2000);
    opj_dparameters_t parameters;
    opj_set_default_decoder_parameters(&parameters);
    require(opj_setup_decoder(codec.get(), &parameters));

    opj_image_t* header = nullptr;
    const OPJ_BOOL has_header = opj_read_header(stream.get(), codec.get(), &header);
    const ImagePointer image(header);
    require(has_header);
    if (image->numcomps < 1 || image->numcomps > most_components) throw UserError("its components are missing");
    if (image->color_space == OPJ_CLRSPC_CMYK || image->color_space == OPJ_CLRSPC_EYCC)
        throw Unsupported("its colours are neither grey, RGB nor YCC");
    const int64_t height = image->comps[0].h, width = image->comps[0].w;
    // Samples of four bytes, once for the tile and once for the image, and what describes the blocks of their code.
    constexpr int64_t sample_bytes = 16;
    Canvas canvas(height, width, pixel_bytes(height, width, sample_bytes * image->numcomps));
    require(opj_decode(codec.get(), stream.get(), image.get()));
    require(opj_end_decompress(codec.get(), stream.get()));
    put_pixels(*image, canvas);
    return std::move(canvas).finish();
}

const ImageDecoder jpeg2000_decoder{{.name = "JPEG 2000", .decode = decode_jpeg2000}};

}  // namespace
}  // namespace headway
