#include "data/npy.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <utility>

#include "base/checked.h"
#include "base/text.h"

namespace headway {
namespace {

constexpr std::string_view magic("\x93NUMPY", 6);
constexpr size_t max_rank = 64;

constexpr std::array<std::pair<std::string_view, ElementType>, 12> codes{{
    {"<f4", ElementType::f32},
    {"<f8", ElementType::f64},
    {"<f2", ElementType::f16},
    {"|u1", ElementType::u8},
    {"|i1", ElementType::i8},
    {"|b1", ElementType::boolean},
    {"<u2", ElementType::u16},
    {"<i2", ElementType::i16},
    {"<u4", ElementType::u32},
    {"<i4", ElementType::i32},
    {"<u8", ElementType::u64},
    {"<i8", ElementType::i64},
}};

// The header is a Python dictionary literal of three known keys.
class HeaderReader {
public:
    explicit HeaderReader(std::string_view text) : text_(text) {}

    std::pair<ElementType, Shape> read() {
        expect('{');
        while (!accept('}')) {
            const std::string_view key = quoted();
            expect(':');
            if (key == "descr")
                read_type();
            else if (key == "fortran_order")
                read_order();
            else if (key == "shape")
                read_shape();
            else
                fail("unknown key in the header");
            if (!accept(',') && peek() != '}') fail("damaged header");
        }
        if (type_ == ElementType::undefined || !has_shape_) fail("incomplete header");
        return {type_, Shape(std::move(dims_))};
    }

private:
    [[noreturn]] static void fail(const std::string& message) { throw UserError(".npy: " + message); }

    char peek() {
        while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
        return at_ < text_.size() ? text_[at_] : '\0';
    }
    bool accept(char c) {
        if (peek() != c) return false;
        ++at_;
        return true;
    }
    void expect(char c) {
        if (!accept(c)) fail("damaged header");
    }
    std::string_view quoted() {
        const char quote = peek();
        if (quote != '\'' && quote != '"') fail("damaged header");
        const size_t end = text_.find(quote, at_ + 1);
        if (end == std::string_view::npos) fail("damaged header");
        const std::string_view found = text_.substr(at_ + 1, end - at_ - 1);
        at_ = end + 1;
        return found;
    }
    void read_type() {
        if (peek() == '[') fail("structured arrays are not handled");
        const std::string_view code = quoted();
        for (const auto& [known, type] : codes)
            if (known == code) type_ = type;
        if (type_ == ElementType::undefined) fail("element type " + escaped(code) + " is not handled");
    }
    void read_order() {
        peek();
        if (text_.substr(at_).starts_with("True"))
            fail("the array is in Fortran order; save numpy.ascontiguousarray(x) instead");
        if (!text_.substr(at_).starts_with("False")) fail("damaged header");
        at_ += 5;
    }
    void read_shape() {
        expect('(');
        while (!accept(')')) {
            peek();
            int64_t extent = -1;
            const auto result = std::from_chars(text_.data() + at_, text_.data() + text_.size(), extent);
            if (result.ec != std::errc() || extent < 0 || dims_.size() >= max_rank) fail("damaged shape");
            at_ = static_cast<size_t>(result.ptr - text_.data());
            dims_.push_back(extent);
            if (!accept(',') && peek() != ')') fail("damaged shape");
        }
        has_shape_ = true;
    }

    std::string_view text_;
    size_t at_ = 0;
    ElementType type_ = ElementType::undefined;
    std::vector<int64_t> dims_;
    bool has_shape_ = false;
};

}  // namespace

Tensor read_npy(std::span<const std::byte> bytes, const std::shared_ptr<const void>& owner) {
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (text.size() < 10 || !text.starts_with(magic)) throw UserError(".npy: not a NumPy file");
    const size_t length_bytes = text[6] == 1 ? 2 : 4;
    if (text[6] < 1 || text[6] > 3) throw UserError(".npy: unknown version");
    if (text.size() < 8 + length_bytes) throw UserError(".npy: the file is truncated");
    size_t header_size = 0;
    for (size_t i = 0; i < length_bytes; ++i)
        header_size |= static_cast<size_t>(static_cast<unsigned char>(text[8 + i])) << (8 * i);
    if (header_size > text.size() - 8 - length_bytes) throw UserError(".npy: the file is truncated");
    auto [type, shape] = HeaderReader(text.substr(8 + length_bytes, header_size)).read();
    const std::span<const std::byte> data = bytes.subspan(8 + length_bytes + header_size);
    const int64_t size = checked_mul(shape.elements(), static_cast<int64_t>(size_of(type)), ".npy: array size");
    if (static_cast<int64_t>(data.size()) != size)
        throw UserError(".npy: " + std::to_string(data.size()) + " bytes of data for shape " + shape.text() +
                        " and type " + std::string(to_string(type)));
    if (type == ElementType::boolean && std::ranges::any_of(data, [](std::byte b) { return b > std::byte{1}; }))
        throw UserError(".npy: a boolean array holds bytes other than 0 and 1");
    if (reinterpret_cast<uintptr_t>(data.data()) % size_of(type) == 0)
        return Tensor(type, std::move(shape), data, owner);
    Tensor copy(type, std::move(shape));
    std::ranges::copy(data, copy.mutable_bytes().begin());
    return copy;
}

std::string write_npy(const Tensor& tensor) {
    std::string_view code;
    for (const auto& [known, type] : codes)
        if (type == tensor.type()) code = known;
    if (code.empty()) throw UserError(".npy has no element type " + std::string(to_string(tensor.type())));
    std::string shape;
    for (const int64_t extent : tensor.shape()) shape += std::to_string(extent) + ", ";
    std::string header = "{'descr': '" + std::string(code) + "', 'fortran_order': False, 'shape': (" + shape + "), }";
    // data begin at a multiple of 64, as NumPy writes them
    header.append((64 - (10 + header.size() + 1) % 64) % 64, ' ');
    header += '\n';
    std::string bytes(magic);
    bytes += '\1';
    bytes += '\0';
    bytes += static_cast<char>(header.size() & 0xFF);
    bytes += static_cast<char>(header.size() >> 8);
    bytes += header;
    bytes.append(reinterpret_cast<const char*>(tensor.bytes().data()), tensor.size_bytes());
    return bytes;
}

}  // namespace headway
