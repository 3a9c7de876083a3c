// Every format: its pixels, and what becomes of data that are cut off, changed or too large. A format whose library the
// build lacks is skipped.
#include "images/decode.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>

#include "images/decoder.h"
#include "images/testing.h"

namespace headway {
namespace {

using namespace testing;
using Bytes = std::vector<std::byte>;

Bytes bytes_of(std::string_view text) {
    const auto bytes = std::as_bytes(std::span(text));
    return {bytes.begin(), bytes.end()};
}

std::vector<uint8_t> pixels_of(const Tensor& image) {
    const auto pixels = image.data<uint8_t>();
    return {pixels.begin(), pixels.end()};
}

void expect_pixels(const Bytes& encoded, const Shape& shape, const std::vector<uint8_t>& want) {
    const Tensor image = decode_image(encoded);
    EXPECT_EQ(image.shape().text(), shape.text());
    EXPECT_EQ(pixels_of(image), want);
}

std::vector<uint8_t> grey(const std::vector<uint8_t>& values) {
    std::vector<uint8_t> pixels;
    for (const uint8_t value : values) pixels.insert(pixels.end(), 3, value);
    return pixels;
}

std::string refusal_of(const Bytes& encoded) {
    try {
        decode_image(encoded);
    } catch (const UserError& error) {
        return error.what();
    }
    return "";
}

const Bytes ppm = [] {
    Bytes bytes = bytes_of("P6\n4 3\n255\n");
    for (const uint8_t value : picture) bytes.push_back(static_cast<std::byte>(value));
    return bytes;
}();

// Big or little endian, of four bytes.
void put_number(Bytes& bytes, size_t at, uint32_t value, bool big_endian) {
    for (size_t i = 0; i < 4; ++i)
        bytes.at(at + (big_endian ? 3 - i : i)) = static_cast<std::byte>(value >> (8 * i) & 255);
}

size_t place_of(const Bytes& bytes, std::string_view text) {
    const Bytes wanted = bytes_of(text);
    return static_cast<size_t>(std::ranges::search(bytes, wanted).begin() - bytes.begin());
}

struct Sample {
    const char* format;
    Bytes encoded;
};

std::vector<Sample> samples() {
    const Registry<ImageDecoder> decoders = declared<ImageDecoder>();
    std::vector<Sample> all{{"BMP", from_hex(bmp)},
                            {"JPEG", from_hex(jpeg)},
                            {"JPEG", from_hex(progressive_jpeg)},
                            {"JPEG 2000", from_hex(jp2)},
                            {"JPEG 2000", from_hex(grey_codestream)},
                            {"PNG", from_hex(png)},
                            {"PNG", from_hex(palette_png)},
                            {"PNM", ppm},
                            {"PNM", bytes_of("P1 3 2\n# bits\n101\n0 1 0\n")},
                            {"PNM", bytes_of("P2 2 1 9\n3 9\n")},
                            {"TIFF", from_hex(tiff)},
                            {"TIFF", from_hex(transparent_tiff)},
                            {"WebP", from_hex(webp)},
                            {"WebP", from_hex(lossy_webp)}};
    std::erase_if(all, [&](const Sample& sample) { return decoders.find(sample.format) == nullptr; });
    return all;
}

#define SKIP_WITHOUT(format) \
    if (declared<ImageDecoder>().find(format) == nullptr) GTEST_SKIP() << "this build has no " << (format)

TEST(DecodeImage, Bmp) {
    SKIP_WITHOUT("BMP");
    expect_pixels(from_hex(bmp), {3, 4, 3}, picture);
}

// Expected pixels of lossy images are those of Pillow, whose libraries are the same.
TEST(DecodeImage, Jpeg) {
    SKIP_WITHOUT("JPEG");
    expect_pixels(from_hex(jpeg), {3, 4, 3},
                  {245, 1,   9,   2,   254, 11, 1, 4, 255, 15, 17, 32, 255, 254, 244, 0,   4,   0,
                   122, 134, 130, 204, 99,  44, 9, 0, 0,   14, 6,  3,  14,  6,   17,  247, 242, 255});
    expect_pixels(from_hex(progressive_jpeg), {3, 4, 3},
                  {129, 91,  90,  146, 108, 107, 55, 17, 16, 47, 9,  8, 254, 216, 215, 53,  15,  14,
                   155, 117, 116, 169, 131, 130, 28, 14, 11, 25, 11, 8, 10,  0,   0,   248, 234, 231});
    expect_pixels(from_hex(grey_jpeg), {3, 4, 3}, grey({75, 151, 32, 18, 255, 0, 130, 124, 1, 8, 10, 246}));
    EXPECT_THROW(decode_image(from_hex(cmyk_jpeg)), Unsupported);
}

TEST(DecodeImage, Jpeg2000) {
    SKIP_WITHOUT("JPEG 2000");
    expect_pixels(from_hex(jp2), {3, 4, 3}, picture);
    expect_pixels(from_hex(grey_codestream), {3, 4, 3}, grey({76, 150, 29, 18, 255, 0, 128, 124, 2, 5, 8, 251}));
}

TEST(DecodeImage, Png) {
    SKIP_WITHOUT("PNG");
    expect_pixels(from_hex(png), {3, 4, 3}, picture);
    expect_pixels(from_hex(palette_png), {3, 4, 3},
                  {87,  2,   3,   72, 43, 30, 0,  0, 128, 72, 43, 30, 158, 222, 159, 87,  2,   3,
                   158, 222, 159, 72, 43, 30, 87, 2, 3,   72, 43, 30, 72,  43,  30,  158, 222, 159});
    expect_pixels(from_hex(transparent_png), {2, 2, 3}, grey({0, 100, 200, 255}));
    expect_pixels(from_hex(deep_png), {2, 2, 3}, grey({0, 0x12, 0xab, 0xff}));
}

TEST(DecodeImage, Pnm) {
    expect_pixels(ppm, {3, 4, 3}, picture);
    expect_pixels(bytes_of("P1 3 2\n# bits\n101\n0 1 0\n"), {2, 3, 3}, grey({0, 255, 0, 255, 0, 255}));
    expect_pixels(bytes_of("P2 2 1 9\n3 9\n"), {1, 2, 3}, grey({85, 255}));
    expect_pixels(bytes_of("P3 1 1 255 1 2 3"), {1, 1, 3}, {1, 2, 3});
    expect_pixels(bytes_of("P4 9 2\n\xaa\x80\x01\x7f"), {2, 9, 3},
                  grey({0, 255, 0, 255, 0, 255, 0, 255, 0, 255, 255, 255, 255, 255, 255, 255, 0, 255}));
    expect_pixels(bytes_of("P5 2 1 511\n\x01\xff\x01\x02"), {1, 2, 3}, grey({255, 129}));
    for (const char* text : {"P5 2 1 0\nab", "P5 2 1 65536\nabcd", "P5 2 x", "P1 1 1 2", "P5 0 1 255\n",
                             "P5 99999999999999999999 1 255\nab", "P5 2 -1 255\nab", "P6"})
        EXPECT_THROW(decode_image(bytes_of(text)), UserError) << text;
}

TEST(DecodeImage, Tiff) {
    SKIP_WITHOUT("TIFF");
    expect_pixels(from_hex(tiff), {3, 4, 3}, picture);
    expect_pixels(from_hex(transparent_tiff), {3, 4, 3}, picture);
    expect_pixels(from_hex(deep_tiff), {2, 2, 3}, grey({0, 0x12, 0xab, 0xff}));
}

TEST(DecodeImage, WebP) {
    SKIP_WITHOUT("WebP");
    expect_pixels(from_hex(webp), {3, 4, 3}, picture);
    expect_pixels(from_hex(lossy_webp), {3, 4, 3},
                  {87,  86,  34,  161, 156, 133, 38, 23, 56, 30, 11, 72, 255, 255, 220, 12,  6,   0,
                   141, 128, 155, 129, 112, 161, 2,  0,  0,  6,  0,  1,  12,  3,   17,  255, 252, 255});
    EXPECT_THROW(decode_image(from_hex(animated_webp)), Unsupported);
}

TEST(DecodeImage, RefusesWhatIsNoImage) {
    for (const char* text : {"", "B", "GIF89a", "RIFF....WAVEfmt ", "P7\n"})
        EXPECT_THROW(decode_image(bytes_of(text)), UserError) << text;
}

// Cut off anywhere, an image is refused or loses nothing that counts, such as padding at its end.
TEST(DecodeImage, DataThatAreCutOffAreRefused) {
    for (const Sample& sample : samples()) {
        const std::vector<uint8_t> whole = pixels_of(decode_image(sample.encoded));
        size_t refused = 0;
        for (size_t length = 0; length < sample.encoded.size(); ++length) {
            const Bytes part(sample.encoded.begin(), sample.encoded.begin() + static_cast<std::ptrdiff_t>(length));
            try {
                EXPECT_EQ(pixels_of(decode_image(part)), whole) << sample.format << " of " << length << " bytes";
            } catch (const UserError& error) {
                ++refused;
                EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
            }
        }
        EXPECT_GE(refused, sample.encoded.size() - 8) << sample.format;
    }
}

// Whatever a byte becomes, the image is decoded or refused.
TEST(DecodeImage, DataThatAreChangedAreDecodedOrRefused) {
    const Limits before = limits();
    set_limits({.memory = int64_t{1} << 24});
    for (const Sample& sample : samples())
        for (size_t at = 0; at < sample.encoded.size(); ++at)
            for (const int change : {1, 0x80, 0xff}) {
                Bytes changed = sample.encoded;
                changed[at] ^= static_cast<std::byte>(change);
                EXPECT_NO_THROW(refusal_of(changed)) << sample.format << " at " << at;
            }
    set_limits(before);
}

// The same pictures with extents of 30,000 by 16,000 and more in their headers.
std::vector<Sample> huge_samples() {
    constexpr uint32_t extent = 30000;
    std::vector<Sample> all = samples();
    for (Sample& sample : all) {
        Bytes& bytes = sample.encoded;
        const std::string_view format = sample.format;
        if (format == "BMP") {
            put_number(bytes, 18, extent, false);
            put_number(bytes, 22, extent, false);
        } else if (format == "JPEG") {
            const size_t frame = std::min(place_of(bytes, "\xff\xc0"), place_of(bytes, "\xff\xc2"));
            put_number(bytes, frame + 5, extent << 16 | extent, true);
        } else if (format == "JPEG 2000") {
            const size_t start = place_of(bytes, "\xff\x4f\xff\x51");
            for (const size_t at : {8, 12, 24, 28}) put_number(bytes, start + at, extent, true);
            if (start > 0)
                for (const size_t at : {4, 8}) put_number(bytes, place_of(bytes, "ihdr") + at, extent, true);
        } else if (format == "PNG") {
            put_number(bytes, 16, extent, true);
            put_number(bytes, 20, extent, true);
            const auto sum = crc32(0, reinterpret_cast<const Bytef*>(bytes.data() + 12), 17);
            put_number(bytes, 29, static_cast<uint32_t>(sum), true);
        } else if (format == "PNM") {
            std::string text = "P6\n30000 30000\n255\nabc";
            text[1] = static_cast<char>(bytes[1]);
            bytes = bytes_of(text);
        } else if (format == "TIFF") {
            // Tags 0x100 and 0x101, numbers of four bytes or of two, with their values eight bytes behind.
            const auto put_tag = [&](char tag) {
                const std::string large{tag, 1, 4, 0}, small{tag, 1, 3, 0};
                put_number(bytes, std::min(place_of(bytes, large), place_of(bytes, small)) + 8, extent, false);
            };
            put_tag(0);
            put_tag(1);
        } else {
            const size_t lossless = place_of(bytes, "VP8L"), lossy = place_of(bytes, "VP8 ");
            if (lossless < bytes.size())
                put_number(bytes, lossless + 9, 16383 | 16383 << 14, false);
            else
                put_number(bytes, lossy + 14, 16383 | 16383 << 16, false);
        }
    }
    return all;
}

TEST(DecodeImage, HugeExtentsAreRefusedBeforeMemoryIsTaken) {
    const Limits before = limits();
    set_limits({.memory = int64_t{1} << 24});
    for (const Sample& sample : huge_samples()) {
        const std::string refusal = refusal_of(sample.encoded);
        const bool is_known_short = refusal.ends_with("the data are cut off");
        EXPECT_TRUE(refusal.find("out of memory") != std::string::npos || is_known_short)
            << sample.format << ": " << refusal;
        if (is_known_short) EXPECT_TRUE(sample.format == std::string("BMP") || sample.format == std::string("PNM"));
    }
    set_limits(before);
}

TEST(DecodeImage, ManyTilesAndComponentsAreRefused) {
    SKIP_WITHOUT("JPEG 2000");
    const Limits before = limits();
    set_limits({.memory = int64_t{1} << 24});
    for (const Bytes& sample : {from_hex(jp2), from_hex(grey_codestream)}) {
        const size_t start = place_of(sample, "\xff\x4f\xff\x51");
        Bytes tiles = sample;
        for (const size_t at : {8, 12}) put_number(tiles, start + at, 250, true);
        for (const size_t at : {24, 28}) put_number(tiles, start + at, 1, true);
        EXPECT_NE(refusal_of(tiles).find("out of memory"), std::string::npos) << refusal_of(tiles);
        Bytes components = sample;
        components[start + 40] = std::byte{0x40};
        EXPECT_THROW(decode_image(components), Unsupported);
    }
    set_limits(before);
}

}  // namespace
}  // namespace headway
