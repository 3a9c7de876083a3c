#include "graph/text_values.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "base/checked.h"
#include "tensor/random.h"

namespace headway {
namespace {

template <class T>
std::string shortest(T value) {
    char text[64];
    return std::string(text, std::to_chars(text, text + sizeof text, value).ptr);
}

std::string element_text(const Tensor& tensor, int64_t index) {
    switch (tensor.type()) {
        case ElementType::f64:
            return shortest(tensor.at(index));
        case ElementType::i64:
            return shortest(tensor.data<int64_t>()[static_cast<size_t>(index)]);
        case ElementType::u64:
            return shortest(tensor.data<uint64_t>()[static_cast<size_t>(index)]);
        default:
            break;
    }
    if (is_float(tensor.type())) return shortest(static_cast<float>(tensor.at(index)));
    return shortest(static_cast<int64_t>(tensor.at(index)));
}

template <class T>
bool parse(std::string_view text, T& value) {
    const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
    return result.ec == std::errc() && result.ptr == text.data() + text.size();
}

bool set_element(Tensor& tensor, int64_t index, std::string_view text) {
    const auto at = static_cast<size_t>(index);
    if (tensor.type() == ElementType::u64) return parse(text, tensor.mutable_data<uint64_t>()[at]);
    if (tensor.type() == ElementType::i64) return parse(text, tensor.mutable_data<int64_t>()[at]);
    double value = 0;
    if (is_float(tensor.type())) {
        if (!parse(text, value)) return false;
        tensor.set(index, value);
        return true;
    }
    int64_t integer = 0;
    if (!parse(text, integer)) return false;
    tensor.set(index, static_cast<double>(integer));
    return tensor.at(index) == static_cast<double>(integer);
}

int64_t tensor_bytes(ElementType type, const Shape& shape) {
    return checked_mul(shape.elements(), static_cast<int64_t>(size_of(type)), "tensor size");
}

Tensor allocate(TextCursor& cursor, ElementType type, const Shape& shape, int64_t& budget) {
    if (size_of(type) == 0) cursor.fail("constants of type " + std::string(to_string(type)) + " are not handled");
    int64_t bytes = std::numeric_limits<int64_t>::max();
    try {
        bytes = tensor_bytes(type, shape);
    } catch (const UserError& error) {
        cursor.fail(error.what());
    }
    if (bytes > budget) cursor.fail("constants of this text are too large (" + shape.text() + ")");
    budget -= bytes;
    return Tensor(type, shape);
}

Tensor read_listed(TextCursor& cursor, ElementType type, const Shape& shape, int64_t& budget) {
    const size_t start = cursor.position();
    cursor.expect('{');
    // the list is read before anything is allocated: the text bounds its own length, a shape does not
    std::vector<std::pair<size_t, std::string_view>> items;
    while (!cursor.accept('}')) {
        if (!items.empty()) cursor.expect(',');
        const size_t at = cursor.position();
        items.emplace_back(at, cursor.number());
    }
    Tensor tensor = allocate(cursor, type, shape, budget);
    if (static_cast<int64_t>(items.size()) != tensor.elements())
        cursor.fail_at(start, std::to_string(items.size()) + " values for shape " + shape.text());
    for (size_t i = 0; i < items.size(); ++i)
        if (!set_element(tensor, static_cast<int64_t>(i), items[i].second))
            cursor.fail_at(items[i].first,
                           std::string(items[i].second) + " is not a value of type " + std::string(to_string(type)));
    return tensor;
}

Tensor read_filled(TextCursor& cursor, ElementType type, const Shape& shape, int64_t& budget) {
    cursor.expect('(');
    const size_t at = cursor.position();
    const std::string_view text = cursor.number();
    cursor.expect(')');
    Tensor one(type, Shape{});
    if (size_of(type) == 0 || !set_element(one, 0, text))
        cursor.fail_at(at, std::string(text) + " is not a value of type " + std::string(to_string(type)));
    Tensor tensor = allocate(cursor, type, shape, budget);
    const std::span<std::byte> bytes = tensor.mutable_bytes();
    if (bytes.empty()) return tensor;
    std::ranges::copy(one.bytes(), bytes.begin());
    for (size_t done = one.size_bytes(); done < bytes.size(); done *= 2)  // what is filled doubles
        std::memcpy(bytes.data() + done, bytes.data(), std::min(done, bytes.size() - done));
    return tensor;
}

Tensor read_random(TextCursor& cursor, ElementType type, const Shape& shape, int64_t& budget) {
    cursor.expect('(');
    const size_t at = cursor.position();
    uint64_t seed = 0;
    if (!parse(cursor.number(), seed)) cursor.fail_at(at, "expected a seed");
    cursor.expect(')');
    allocate(cursor, type, shape, budget);
    const int64_t fan_in = shape.rank() >= 2 && shape[0] > 0 ? shape.elements() / shape[0] : 1;
    return random_tensor(type, shape, seed, 1 / std::sqrt(static_cast<double>(std::max<int64_t>(fan_in, 1))));
}

Tensor read_from_table(TextCursor& cursor, ElementType type, const Shape& shape, std::span<const Tensor> table) {
    cursor.expect('(');
    const size_t at = cursor.position();
    size_t index = 0;
    if (!parse(cursor.number(), index) || index >= table.size()) cursor.fail_at(at, "no such tensor in the table");
    cursor.expect(')');
    if (table[index].type() != type || table[index].shape() != shape)
        cursor.fail_at(at, "the tensor in the table has another type or shape");
    return table[index];
}

constexpr const char* hash_message = "this constant was too large to print; its values are not in the text";

}  // namespace

std::string real_text(float value) {
    std::string text = shortest(value);
    if (!reads_as_real(text)) text += ".0";
    return text;
}

bool reads_as_real(std::string_view number) {
    return number.find_first_of(".ein") != std::string_view::npos;  // a point, an exponent, inf or nan
}

std::string type_text(ElementType type, const Shape& shape) {
    std::string text = std::string(to_string(type)) + "[";
    for (size_t axis = 0; axis < shape.rank(); ++axis) text += (axis > 0 ? "," : "") + std::to_string(shape[axis]);
    return text + "]";
}

std::string tensor_values_text(const Tensor& tensor, int64_t inline_limit) {
    if (tensor.elements() > inline_limit) return "hash(" + tensor.hash().hex() + ")";
    std::string text = "{";
    for (int64_t i = 0; i < tensor.elements(); ++i) {
        if (i > 0) text += ',';
        text += element_text(tensor, i);
    }
    return text + "}";
}

std::string strings_text(const Strings& strings, int64_t inline_limit) {
    if (static_cast<int64_t>(strings.values.size()) > inline_limit) return "hash(" + strings.hash().hex() + ")";
    std::string text = "{";
    for (const std::string& value : strings.values) text += (text.size() > 1 ? "," : "") + quoted(value);
    return text + "}";
}

Tensor read_tensor_values(TextCursor& cursor, ElementType type, const Shape& shape, int64_t& budget,
                          std::span<const Tensor> table) {
    if (cursor.peek() == '{') return read_listed(cursor, type, shape, budget);
    if (cursor.accept_word("fill")) return read_filled(cursor, type, shape, budget);
    if (cursor.accept_word("random")) return read_random(cursor, type, shape, budget);
    if (cursor.accept_word("table")) return read_from_table(cursor, type, shape, table);
    if (cursor.accept_word("hash")) cursor.fail(hash_message);
    cursor.fail("expected {values}, fill(x) or random(seed)");
}

Strings read_strings(TextCursor& cursor, Shape shape) {
    const size_t start = cursor.position();
    if (cursor.accept_word("hash")) cursor.fail(hash_message);
    cursor.expect('{');
    Strings strings{std::move(shape), {}};
    while (!cursor.accept('}')) {
        if (!strings.values.empty()) cursor.expect(',');
        strings.values.push_back(cursor.quoted_string());
    }
    int64_t wanted = -1;
    try {
        wanted = strings.shape.elements();
    } catch (const UserError& error) {
        cursor.fail_at(start, error.what());
    }
    if (static_cast<int64_t>(strings.values.size()) != wanted)
        cursor.fail_at(start, std::to_string(strings.values.size()) + " strings for shape " + strings.shape.text());
    return strings;
}

}  // namespace headway
