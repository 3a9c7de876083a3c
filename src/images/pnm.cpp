// The portable formats are a header in text and plain samples: there is nothing to decode that checking them would not
// read already.
#include <algorithm>
#include <array>

#include "base/checked.h"
#include "images/decoder.h"

namespace headway {
namespace {

class PnmReader {
public:
    explicit PnmReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

    size_t left() const { return bytes_.size() - at_; }
    // The next byte; UserError at the end.
    uint8_t byte() {
        if (left() == 0) throw UserError("the data are cut off");
        return std::to_integer<uint8_t>(bytes_[at_++]);
    }
    // A number behind white space and comments.
    int64_t number() {
        skip_space();
        int64_t value = 0;
        bool has_digits = false;
        while (left() > 0 && is_digit(peek())) {
            value = value * 10 + (byte() - '0');
            has_digits = true;
            if (value > most) throw UserError("a number is too large");
        }
        if (!has_digits) throw UserError(left() == 0 ? "the data are cut off" : "a number is missing");
        return value;
    }
    // A sample of a plain bitmap: one digit, with or without white space before it.
    int64_t bit() {
        skip_space();
        const uint8_t digit = byte();
        if (digit != '0' && digit != '1') throw UserError("a number is missing");
        return digit - '0';
    }

private:
    static constexpr int64_t most = int64_t{1} << 31;

    static bool is_digit(uint8_t c) { return c >= '0' && c <= '9'; }
    uint8_t peek() const { return std::to_integer<uint8_t>(bytes_[at_]); }
    void skip_space() {
        while (left() > 0) {
            const uint8_t c = peek();
            if (c == '#')
                while (left() > 0 && byte() != '\n') continue;
            else if (c == ' ' || (c >= '\t' && c <= '\r'))
                ++at_;
            else
                return;
        }
    }

    std::span<const std::byte> bytes_;
    size_t at_ = 2;  // behind "P6"
};

struct PnmHeader {
    bool plain, bitmap;
    int64_t channels, width, height, largest;

    int64_t row_bytes() const {
        if (bitmap && !plain) return ceil_div(width, 8);
        // A plain sample takes a digit at least.
        return checked_mul(checked_mul(width, channels, "its size"), plain || largest < 256 ? 1 : 2, "its size");
    }
};

PnmHeader read_header(PnmReader& reader, char kind) {
    PnmHeader header{};
    header.plain = kind <= '3';
    header.bitmap = kind == '1' || kind == '4';
    header.channels = kind == '3' || kind == '6' ? 3 : 1;
    header.width = reader.number();
    header.height = reader.number();
    header.largest = header.bitmap ? 1 : reader.number();
    if (header.largest < 1 || header.largest > 65535) throw UserError("its largest sample is out of range");
    if (!header.plain) reader.byte();  // the one white space before raw samples
    if (checked_mul(header.row_bytes(), header.height, "its size") > static_cast<int64_t>(reader.left()))
        throw UserError("the data are cut off");
    return header;
}

int64_t read_sample(PnmReader& reader, const PnmHeader& header) {
    if (header.plain) return header.bitmap ? reader.bit() : reader.number();
    const int64_t high = reader.byte();
    return header.largest < 256 ? high : high * 256 + reader.byte();
}

uint8_t pnm_to_byte(int64_t sample, int64_t largest) {
    return static_cast<uint8_t>((std::min(sample, largest) * 255 + largest / 2) / largest);
}

// Of a raw bitmap, eight pixels to a byte; in both kinds of bitmaps 1 is black.
void read_raw_bits(PnmReader& reader, Canvas& canvas, uint8_t* row) {
    uint8_t bits = 0;
    for (int64_t x = 0; x < canvas.width(); ++x) {
        if (x % 8 == 0) bits = reader.byte();
        std::fill_n(row + 3 * x, 3, (bits >> (7 - x % 8) & 1) != 0 ? uint8_t{0} : uint8_t{255});
    }
}

Tensor decode_pnm(std::span<const std::byte> encoded) {
    PnmReader reader(encoded);
    const PnmHeader header = read_header(reader, static_cast<char>(encoded[1]));
    Canvas canvas(header.height, header.width, 0);
    for (int64_t y = 0; y < header.height; ++y) {
        uint8_t* to = canvas.row(y);
        if (header.bitmap && !header.plain) {
            read_raw_bits(reader, canvas, to);
            continue;
        }
        for (int64_t x = 0; x < header.width; ++x, to += 3) {
            std::array<uint8_t, 3> pixel{};
            for (int64_t c = 0; c < header.channels; ++c)
                pixel[static_cast<size_t>(c)] = pnm_to_byte(read_sample(reader, header), header.largest);
            if (header.bitmap) pixel[0] = static_cast<uint8_t>(255 - pixel[0]);
            if (header.channels == 1) pixel[1] = pixel[2] = pixel[0];
            std::ranges::copy(pixel, to);
        }
    }
    return std::move(canvas).finish();
}

const ImageDecoder pnm_decoder{{.name = "PNM", .decode = decode_pnm}};

}  // namespace
}  // namespace headway
